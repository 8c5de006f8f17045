-- Tests the conversion of formulas in plain text into MathML: fractions, sub- and superscripts, sums, brackets and
-- words; errors; and formulas in a terminal.
local test = require "moonrank.test"
local docs = require "moonrank.help.docs"
local formula = require "moonrank.manual.formula"
local help = require "moonrank.help"
local markup = require "moonrank.manual.markup"
local it, equal, check = test.it, test.equal, test.check

-- Returns a formula's MathML, simplified for comparison: without its <math> element, rows, attributes and spaces.
-- Fractions are <f>, and operators have no element.
local function tree(text)
  return (formula.html(text):gsub("^<math[^>]*>", ""):gsub("</math>$", ""):gsub("</?mrow>", "")
    :gsub("<mspace[^>]*></mspace>", "_"):gsub("<mo%f[%s>][^>]*>(.-)</mo>", "%1"):gsub("<m[in]>(.-)</m[in]>", "%1")
    :gsub("mfrac", "f"))
end

it("a fraction has the operands beside the slash, without their round brackets", function()
  equal(tree "(M - E) / sd", "<f>M−Esd</f>")
  equal(tree "1/P x", "<f>1P</f>x")
  equal(tree "a + 2^y / f(x)", "a+<f><msup>2y</msup>f(x)</f>")
  equal(tree "(a) / |b - c|", "<f>a|b−c|</f>")
  equal(tree "a / b / c", "<f><f>ab</f>c</f>")
  equal(tree "1 / (P (N - P))", "<f>1P(N−P)</f>")
end)

it("scripts have one operand or the content of brackets, and are limits of sums", function()
  equal(tree "x_i^2", "<msubsup>xi2</msubsup>")
  equal(tree "s_(i j)", "<msub>sij</msub>")
  equal(tree "p^(r - 1) q", "<msup>pr−1</msup>q")
  equal(tree "sum_(i = 1)^n x_i", "<munderover>∑i=1n</munderover><msub>xi</msub>")
  equal(tree "prod_j a", "<munder>∏j</munder>a")
  equal(tree "max_i x", "<munder>maxi</munder>_x")
  equal(tree "max(0, x)^2", "<msup>max(0,x)2</msup>")
end)

it("names are letters, Greek letters, functions or words in a row", function()
  equal(tree "sigma(-steepness s)", "σ(−steepness_s)")
  equal(tree "log F~(M)", 'log_<mover accent="true">F~</mover>(M)')
  equal(tree "log2(r)", "<msub>log2</msub>(r)")
  equal(tree "x where less is better", "x_<mtext>where less is better</mtext>")
  equal(tree "sqrt(x) != 1.5 in y", "<msqrt>x</msqrt>≠1.5∈y")
  check(formula.html("a < b"):find('alttext="a &lt; b"', 1, true) and tree "a < b" == "a&lt;b", "escaped")
end)

it("a formula with a missing bracket or operand is an error that shows the formula", function()
  for _, wrong in ipairs{ "(a", "a)", "a /", "a_", "|x", "a & b" } do
    test.raises(function() formula.html(wrong) end, wrong)
  end
end)

it("pages show formulas between dollar signs, and not prices, names of variables and code", function()
  check(markup.inline("so $x_i$ is"):match "^so <math.*<msub>.*</math> is$", "inline")
  equal(markup.inline "`$x_i$` costs $5 or $HOME", "<code>$x_i$</code> costs $5 or $HOME")
  check(markup.html("| a | b |\n|---|---|\n| $|x|$ | c |"):match "<tr><td><math.*</math></td><td>c</td></tr>", "table")
  check(markup.html("One.\n\n$x$\n\nTwo."):match 'One.</p>\n<p class="formula"><math display="block"', "block")
  check(markup.paragraphs("One.\n\n  $x$\n\nTwo."):match '<p class="formula"><math display="block"', "docstring")
end)

it("the terminal shows formulas without dollar signs", function()
  local text = help.about "mr.smooth.rank"
  check(text:find("R_i = 1 + sum_(j != i) sigma", 1, true) and not text:find "%$", text)
  local code = "```\nexport PATH=$PWD:$PATH\n```\n"
  equal(formula.plain("$x$ is\n" .. code .. "$y$"), "x is\n" .. code .. "y")
  check(not help.about "guide/losses_and_bounds":find "%$[^%s]", "page")
  check(not help.about "distribution":find "%$", "bound")
end)

it("every formula in the library's comments can be read", function()
  local count = 0
  for _, source in ipairs(docs.sources()) do
    for _, item in ipairs(docs.of_source(source).items) do
      for inside in item.text:gmatch(formula.pattern) do
        local ok, message = pcall(formula.html, inside)
        check(ok, ("%s: %s"):format(source, message))
        count = count + 1
      end
    end
  end
  check(count >= 25, count .. " formulas")
end)
