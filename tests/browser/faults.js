// What a reader would stumble over on this page, in words. Evaluated by test_site_layout.py.
() => {
  const found = []
  const tell = (what, element) => found.push(`${what}: ${(element.alt || element.textContent).trim().slice(0, 60)}`)
  const width = document.documentElement.clientWidth
  if (document.documentElement.scrollWidth > width) tell(`the page is ${document.documentElement.scrollWidth} wide`, document.querySelector("h1"))

  const scrolls = element => element && element !== document.body &&
    (["auto", "scroll"].includes(getComputedStyle(element).overflowX) || scrolls(element.parentElement))
  for (const element of document.querySelectorAll("article :is(p, li, h1, h2, h3, h4, img, math, table, code)"))
    if (element.checkVisibility() && element.getBoundingClientRect().right > width + 1 && !scrolls(element)) tell("runs over the edge", element)

  // A word of code in a table, and an option anywhere, stays in one line.
  for (const code of document.querySelectorAll("article :not(pre) > code")) {
    const text = document.createTreeWalker(code, NodeFilter.SHOW_TEXT)
    while (text.nextNode())
      for (const word of text.currentNode.data.matchAll(code.closest("table") ? /[\w.]+/g : /(?<![\w-])--?[a-z][\w-]*/g)) {
        const range = document.createRange()
        range.setStart(text.currentNode, word.index)
        range.setEnd(text.currentNode, word.index + word[0].length)
        const tops = new Set([...range.getClientRects()].map(box => Math.round(box.top)))
        if (tops.size > 1) tell(`broken in two, ${word[0]}`, code)
      }
  }

  // A number with a hyphen stays in one line, and a formula with its full stop.
  const oneLine = range => new Set([...range.getClientRects()].map(box => Math.round(box.top))).size < 2
  const texts = document.createTreeWalker(document.querySelector("article"), NodeFilter.SHOW_TEXT)
  while (texts.nextNode()) {
    const parent = texts.currentNode.parentElement
    if (parent.closest("pre, code, math")) continue
    for (const word of texts.currentNode.data.matchAll(/[\w.]*\w-\d[\w.]*/g)) {
      const range = document.createRange()
      range.setStart(texts.currentNode, word.index)
      range.setEnd(texts.currentNode, word.index + word[0].length)
      if (!oneLine(range)) tell(`broken in two, ${word[0]}`, parent)
    }
  }
  for (const formula of document.querySelectorAll("span.formula")) {
    const range = document.createRange(), math = formula.querySelector("math")
    if (formula.lastChild === math) continue
    range.selectNode(formula.lastChild)
    const box = math.getBoundingClientRect()
    if (range.getBoundingClientRect().top > (box.top + box.bottom) / 2) tell("parted from its full stop", formula)
  }

  // The button to copy stands beside the code.
  for (const button of document.querySelectorAll("article pre :is(.md-clipboard, .md-code__button), article pre + .md-clipboard")) {
    const box = button.getBoundingClientRect(), code = button.closest("pre, .highlight").querySelector("code").getBoundingClientRect()
    if (box.width && box.left < code.right - 1 && box.right > code.left && box.top < code.bottom && box.bottom > code.top) tell("under the copy button", button.closest("pre, .highlight"))
  }

  // Words in charts are drawn at 10 points or more. On a phone a point is nearly a pixel; on a large screen the widest
  // charts are half as large, and can be opened by themselves. A PNG is a screenshot.
  for (const picture of document.querySelectorAll("article img")) {
    if (!picture.checkVisibility()) continue  // drawn for another width
    if (!picture.naturalWidth) tell("no picture", picture)
    else if (picture.src.endsWith(".svg") && picture.getBoundingClientRect().width < (width < 600 ? 0.7 : 0.45) * picture.naturalWidth) tell("too small to read", picture)
  }
  for (const formula of document.querySelectorAll("math")) {
    const box = formula.getBoundingClientRect()
    if (formula.checkVisibility() && !(box.width > 1 && box.height > 1)) tell("an empty formula", formula)
  }
  return found
}
