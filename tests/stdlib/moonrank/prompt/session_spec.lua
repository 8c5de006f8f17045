-- Tests the lexer of the prompt, and locals in a prompt session.
local test = require "moonrank.test"
local lexer = require "moonrank.prompt.lexer"
local session = require "moonrank.prompt.session"
local core = require "moonrank.core"
local describe, it, equal, check = test.describe, test.it, test.equal, test.check

local function words(text)
  local found = {}
  for i, token in ipairs(lexer.tokens(text)) do found[i] = token.text end
  return found
end

describe("lexer.tokens", function()
  it("splits text into names, numbers, strings and symbols without comments", function()
    equal(words "local x<const> =a.b:c(1.5e3,0x1F)..'it\\'s' -- why\n",
      { "local", "x", "<", "const", ">", "=", "a", ".", "b", ":", "c", "(", "1.5e3", ",", "0x1F", ")", "..",
        "'it\\'s'" })
    equal(words "a--[[ x\ny ]]b --[==[ ]] ]==] c [=[ ]] ]=] \"\\\\\" d", { "a", "b", "c", "[=[ ]] ]=]", '"\\\\"', "d" })
    equal(words "a ~= b == c <= d // e ::f::", { "a", "~=", "b", "==", "c", "<=", "d", "//", "e", "::", "f", "::" })
    equal(words "1e-5 2.5E+3-1 0x1e-5 0x1p-3 1e-x",
      { "1e-5", "2.5E+3", "-", "1", "0x1e", "-", "5", "0x1p-3", "1e", "-", "x" })
    equal(words "", {})
  end)
  it("ends with an open token if a string or comment is not closed", function()
    for _, text in ipairs{ "f{a = 'mi", 'f"x\\', "x = [[ y\nz", "x --[==[ y ]]", "x = 'a\n'" } do
      local tokens = lexer.tokens(text)
      equal(tokens[#tokens].kind, "open", text)
      equal(tokens[#tokens].stop, #text, text)
    end
  end)
  it("covers every library file completely", function()
    for _, name in ipairs(core.embedded_names()) do
      -- other embedded files, such as texts of the manual, are not Lua code
      local text = name:match "%.lua$" and core.stdlib_text(name) or ""
      local last = 0
      for _, token in ipairs(lexer.tokens(text)) do
        check(token.kind ~= "open", name)
        check(token.start > last and text:sub(token.start, token.stop) == token.text, name)
        last = token.stop
      end
    end
  end)
end)

describe("locals of a prompt session", function()
  local function changed(text, expected, names)
    local found, own = session.without_locals(text)
    equal(found, expected)
    equal(own, names)
  end
  it("are the locals outside of every block", function()
    changed("local x = 1", "  x = 1", { "x" })
    changed("local x", "  x = nil;", { "x" })
    changed("local a, b <const> = 1", "  a, b  = 1", { "a", "b" })
    changed("local function f() local y end", "  function f() local y end", { "f" })
    changed("if a then local b elseif c then local d end local e",
      "if a then local b elseif c then local d end   e = nil;", { "e" })
    changed("while a do local b end repeat local c until d", "while a do local b end repeat local c until d", {})
    changed("f(function() local a end) x = { local_ = 1 }", "f(function() local a end) x = { local_ = 1 }", {})
    changed("s = 'local x' -- local y\nlocal z = 1", "s = 'local x' -- local y\n  z = 1", { "z" })
  end)
  it("stay unchanged if they are to-be-closed or incomplete declarations", function()
    for _, text in ipairs{ "local x <close> = f()", "local", "local 1", "local x,", "local x <", "local x <const" } do
      changed(text, text, {})
    end
  end)
  it("leave every library file a valid chunk with the same number of lines", function()
    for _, name in ipairs(core.embedded_names()) do
      local text = name:match "%.lua$" and core.stdlib_text(name) or ""
      local found = session.without_locals(text)
      check(load(found), name)
      equal(select(2, found:gsub("\n", "")), select(2, text:gsub("\n", "")), name)
    end
  end)
  it("are visible and assignable in later chunks without being globals", function()
    rawset(_G, "session_spec_step", false)
    session.compile "local session_spec_n = 1"()
    session.compile "function session_spec_step() session_spec_n = session_spec_n + 1 return session_spec_n end"()
    equal(session.compile "session_spec_step()"(), 2)
    equal(session.compile "session_spec_n"(), 2)
    equal(session.value "session_spec_n", 2)
    equal(rawget(_G, "session_spec_n"), nil)
    session.compile "session_spec_n = nil"()
    session.compile "session_spec_n = 7"()
    equal(rawget(_G, "session_spec_n"), nil)
    rawset(_G, "session_spec_step", nil)
    check(session.compile "do local x <close> = nil end")
    equal(select(2, session.compile "x = = 1"), "stdin:1: unexpected symbol near '='")
  end)
end)

describe("incomplete text at the prompt", function()
  local function is_incomplete(text)
    local chunk, message = session.compile(text)
    equal(chunk, nil, text)
    return message:find "<eof>$" ~= nil
  end
  it("is text that further lines can complete", function()
    for _, text in ipairs{ "for i = 1, 3 do", "if x then", "f(", "x = [[a", "x = 'a\\", "x = 'a\\z", "x = 'a\\z \n ",
      "for line in x:lines()", "if x:y()", "x = [[\nfor i in range(3):", "--[[\nif x:", "f{\nname = 'x',",
      "for i = 1, 2 do print(x) -- why: because" } do
      check(is_incomplete(text), text)
    end
  end)
  it("is not a quoted string that ends with its line, and not a block with a colon", function()
    for _, text in ipairs{ "print 'a", 'print "a', "'a", "x = {'a", "f(\n'a", "for i in range(3): print(i)",
      "for i in range(3):print(i)", "for x in list:", "if x:", "while x: f()", "if x then\nelseif y:" } do
      check(not is_incomplete(text), text)
    end
  end)
end)
