//! Questions about small workspaces of TypeScript and JavaScript.

use super::tests::check;
use super::*;
use crate::index::tests::workspace;

/// The lines on which what a name alone means is used, as `file:line`.
fn uses(files: &[(&str, &str)], name: &str) -> Vec<String> {
    let (_folder, index) = workspace(files);
    let resolver = Resolver::new(&index);
    let target = resolver.definitions_named(name).into_iter().next().unwrap();
    let uses = resolver.references(&target);
    uses.iter().map(|used| format!("{}:{}", index.path(used.file), used.occurrence.at.line)).collect()
}

/// Who calls what a name alone means, as `file:line`.
fn callers(files: &[(&str, &str)], name: &str) -> Vec<String> {
    let (_folder, index) = workspace(files);
    let resolver = Resolver::new(&index);
    let target = resolver.definitions_named(name).into_iter().next().unwrap();
    let callers = resolver.callers(&target);
    let place = |one: &DefinitionSite| format!("{}:{}", index.path(one.file), one.definition.at.line);
    callers.iter().map(|call| place(&call.function)).collect()
}

#[test]
fn keys_of_objects_mean_the_members_of_the_type_that_is_expected() {
    let types = (
        "types.ts",
        "export interface Options {\n  name: string;\n  nested: { deep: number };\n  each?: (item: Item) => void;\n}\nexport class Item {\n  constructor(init: Options) {}\n  size = 1;\n}\nexport function configure(first: string, options: Partial<Options>) {}\nexport type Handler = (item: Item, options: Options) => Options;\n",
    );
    for (text, expected) in [
        ("const o: Options = { <|>name: 'a' };", "types.ts:2"),
        ("const o = { <|>name: 'a' } as Options;", "types.ts:2"),
        ("const o = { <|>name: 'a' } satisfies Options;", "types.ts:2"),
        ("const o: Options = { nested: { <|>deep: 1 } };", "types.ts:3"),
        ("const o: Options[] = [{ <|>name: 'a' }];", "types.ts:2"),
        ("configure('a', { <|>name: 'b' });", "types.ts:2"),
        ("configure('a', flag ? { <|>name: 'b' } : {});", "types.ts:2"),
        ("new Item({ <|>name: 'b' });", "types.ts:2"),
        ("class More extends Item { constructor() { super({ <|>name: 'b' }); } }", "types.ts:2"),
        ("function f(): Options { return { <|>name: 'a' }; }", "types.ts:2"),
        ("const f: Handler = () => ({ <|>name: 'a' });", "types.ts:2"),
        ("let o: Options; o = { <|>name: 'a' };", "types.ts:2"),
        ("const o: Options = { <|>each(item) {} };", "types.ts:4"),
        ("const o: External = { <|>name: 'a' };", "external"),
        ("new Global({ <|>name() {} });", "external"),
        ("new External({ <|>name() {} });", "app.ts:2"),
        ("const o: Record<string, Options> = { key: { <|>name: 'a' } };", "types.ts:2"),
        ("const o: { [key: string]: Options } = { key: { <|>name: 'a' } };", "types.ts:2"),
        ("const o: any = { <|>name: 'a' };", "app.ts:2"),
        ("const o = { <|>name: 'a' };", "app.ts:2"),
        ("const o: Options = { <|>other: 'a' };", "app.ts:2"),
    ] {
        let text = format!(
            "import {{ Options, Item, Handler, configure }} from './types'; import {{ External }} from 'x';\n{text}\n"
        );
        check(&[types, ("app.ts", &text)], &[expected]);
    }
    let text = "import { Options } from './types';\nconst name = 'a';\nconst o: Options = { <|>name };\n";
    check(&[types, ("app.ts", text)], &["app.ts:2", "types.ts:2"]);
}

#[test]
fn parameters_of_functions_take_the_type_that_is_expected() {
    let types = (
        "types.ts",
        "export interface Item {\n  size: number;\n  parent: Item;\n}\nexport type Callback<A, B> = (first: A, second: B) => void;\nexport type OnItem = Callback<string, Item>;\nexport interface Visitor {\n  (item: Item, depth: number): void;\n}\nexport function visit(visitor: Visitor): void {}\nexport function each(callback: (item: Item) => void): void {}\nexport class Source {\n  constructor(run: (this: Source, item: Item) => void) {}\n  items: Item[];\n  byName: Map<string, Item>;\n  later: Promise<Item>;\n}\n",
    );
    for text in [
        "each((item) => item.<|>size);",
        "each(item => item.<|>size);",
        "each(function (item) { item.<|>size; });",
        "each(({ parent }) => parent.<|>size);",
        "each(({ parent: other }) => other.<|>size);",
        "visit((item) => item.<|>size);",
        "new Source((item) => item.<|>size);",
        "const f: OnItem = (name, item) => item.<|>size;",
        "function f(): OnItem { return (name, item) => item.<|>size; }",
        "const o: { on: OnItem } = { on(name, item) { item.<|>size; } };",
        "function f(s: Source) { s.items.map((item) => item.<|>size); }",
        "function f(s: Source) { s.items.filter(Boolean).forEach((item) => item.<|>size); }",
        "function f(s: Source) { s.items.reduce((sum, item) => sum + item.<|>size, 0); }",
        "function f(s: Source) { s.later.then((item) => item.<|>size); }",
        "async function f(s: Source) { (await s.later).<|>size; }",
        "function f(s: Source) { s.items.pop()!.<|>size; }",
        "function f(s: Source) { s.byName.get('a')?.<|>size; }",
        "function f(s: Source) { for (const item of s.items) item.<|>size; }",
        "function f<T extends Item>(item: T) { item.<|>size; }",
        "function f(item: Item['parent']) { item.<|>size; }",
        "function f(item: Omit<Item, 'parent'>) { item.<|>size; }",
        "function g(): Item { throw 0; } function f(item: ReturnType<typeof g>) { item.<|>size; }",
        "function f(o: { item: Item }) { o.item.<|>size; }",
        "function f({ item }: { item: Item }) { item.<|>size; }",
        "function f(item: import('./types').Item) { item.<|>size; }",
    ] {
        let text = format!("import {{ Item, OnItem, Source, each, visit }} from './types';\n{text}\n");
        check(&[types, ("app.ts", &text)], &["types.ts:2"]);
    }
}

#[test]
fn a_call_means_the_signature_that_takes_its_arguments() {
    let file = (
        "a.ts",
        "export function f(a: string): void;\nexport function f(a: string, b?: number): void;\nexport function f(...all: unknown[]) {}\nexport class C {\n  m(a: string): void;\n  m(a: string, b: number): void;\n  m(...all: unknown[]) {}\n}\n",
    );
    for (text, expected) in [
        ("<|>f('a');", vec!["a.ts:1"]),
        ("<|>f('a', 1);", vec!["a.ts:2"]),
        ("const g = <|>f;", vec!["a.ts:1", "a.ts:2", "a.ts:3"]),
        ("new C().<|>m('a', 1);", vec!["a.ts:6"]),
    ] {
        let text = format!("import {{ f, C }} from './a';\n{text}\n");
        check(&[file, ("b.ts", &text)], &expected);
    }
    // The name of a signature means what is run; signatures are no uses.
    let marked = file.1.replacen("function f", "function <|>f", 1);
    check(&[("a.ts", &marked)], &["a.ts:3"]);
    assert_eq!(uses(&[file, ("b.ts", "import { f } from './a';\nf('a');\n")], "f"), ["b.ts:1", "b.ts:2"]);
}

#[test]
fn uses_of_a_member_are_also_those_of_what_it_overrides_and_implements() {
    let files = [
        ("a.ts", "export interface Shape { area(): number }\nexport class Base { draw() {} }\n"),
        (
            "b.ts",
            "import { Base, Shape } from './a';\nexport class Circle extends Base implements Shape {\n  area() { return 1; }\n  draw() {}\n}\nclass Other { area() {} }\n",
        ),
        (
            "c.ts",
            "import { Base, Shape } from './a';\nimport { Circle } from './b';\nfunction f(s: Shape, c: Circle, b: Base) {\n  s.area();\n  c.area();\n  b.draw();\n}\nconst s: Shape = { area: () => 2 };\n",
        ),
    ];
    assert_eq!(uses(&files, "Circle.area"), ["a.ts:1", "c.ts:4", "c.ts:5", "c.ts:8"]);
    assert_eq!(uses(&files, "Shape.area"), ["b.ts:3", "c.ts:4", "c.ts:5", "c.ts:8"]);
    assert_eq!(uses(&files, "Base.draw"), ["b.ts:4", "c.ts:6"]);
    assert_eq!(uses(&files, "Other.area"), [""; 0]);
    let made = [("a.js", "class A {\n  constructor() {}\n}\nnew A();\nA.name;\nclass B {}\nnew B();\n")];
    assert_eq!(uses(&made, "A.constructor"), ["a.js:4"]);
}

#[test]
fn what_describes_properties_is_the_same_everywhere() {
    let files = [
        (
            "a.js",
            "Object.defineProperties(A, {\n  one: {\n    get () { return 1 },\n    set (to) {}\n  }\n})\n",
        ),
        (
            "b.js",
            "Object.defineProperty(B, 'two', {\n  get: () => 2\n})\nmap.get(2)\nconst own = { get () {} }\n",
        ),
        (
            "c.js",
            "Object.create(C, { three: { enumerable: true,\n  get: three } })\nf(C, 'four', {\n  get () {} })\n",
        ),
    ];
    let (_folder, index) = workspace(&files);
    let resolver = Resolver::new(&index);
    // The name means a member of the language's own; who asks for uses means what stands here.
    assert_eq!(resolver.definition_at(index.named("a.js").unwrap(), 3, 5).unwrap(), Resolution::External);
    let meaning = resolver.target_at(index.named("a.js").unwrap(), 3, 5).unwrap();
    let uses = resolver.references(&meaning.found()[0]);
    let uses = uses.iter().map(|one| format!("{}:{}", index.path(one.file), one.occurrence.at.line));
    assert_eq!(uses.collect::<Vec<_>>(), ["b.js:2", "c.js:2"]);
}

#[test]
fn callers_are_functions_with_a_name_that_call() {
    let text = "export function f() {}\nf();\nfunction only(g = f) { return g; }\nfunction one() { [1].map(() => f()); }\nconst two = () => { f(); };\nclass C {\n  constructor() { f(); }\n  m() { f(); }\n  get p() { return f(); }\n}\nfunction three(x: any) {\n  x.on = () => f();\n  return { key: () => f() };\n}\n";
    assert_eq!(
        callers(&[("a.ts", text)], "f"),
        ["a.ts:1", "a.ts:4", "a.ts:5", "a.ts:6", "a.ts:8", "a.ts:9", "a.ts:11"]
    );
}

#[test]
fn calls_lead_on_through_what_is_run() {
    let text = "function f(a: string): void;\nfunction f(a: number): void;\nfunction f(a: any) { g(); }\nfunction g() {}\nfunction start() { f(1); }\n";
    let (_folder, index) = workspace(&[("a.ts", text)]);
    let resolver = Resolver::new(&index);
    let start = resolver.definitions_named("start").remove(0);
    let graph = resolver.call_graph(&start, Direction::Callees, 3, 50);
    let lines: Vec<u32> = graph.nodes.iter().map(|node| node.found.definition.at.line).collect();
    assert_eq!(lines, [5, 3, 4]);
}

#[test]
fn assignments_make_members_in_javascript_and_of_functions_only_in_typescript() {
    let class = "class A {\n  size: number;\n  m() { this.size; }\n}\nclass B extends A {\n  n() { this.size = 1; this.<|>size; }\n}\n";
    check(&[("a.ts", class)], &["a.ts:2"]);
    check(&[("a.ts", "function f() {}\nf.<|>extra = 1;\n")], &["a.ts:2"]);
    check(&[("a.js", "class A {\n  m() { this.size = 1; }\n  n() { this.<|>size; }\n}\n")], &["a.js:2"]);
}

#[test]
fn an_inferred_type_is_known_in_its_condition() {
    check(
        &[("a.ts", "type State = 1;\ntype A<F> = F extends (a: infer State) => any ? [<|>State] : never;\n")],
        &["a.ts:2"],
    );
}

#[test]
fn an_attribute_of_an_element_is_what_its_component_takes() {
    let component =
        ("b.tsx", "export interface Props {\n  title: string;\n}\nexport function Box(props: Props) {}\n");
    let uses = |text: &str| format!("import {{ Box }} from './b';\nconst title = 1;\n{text}\n");
    check(&[component, ("a.tsx", &uses("const a = <Box <|>title=\"x\" />;"))], &["b.tsx:2"]);
    check(&[component, ("a.tsx", &uses("const a = <div <|>title=\"x\" />;"))], &["external"]);
}

#[test]
fn comments_say_types_in_javascript() {
    let model = (
        "model.js",
        "class Item {\n  constructor() {\n    this.size = 1;\n  }\n  more() {}\n}\nexports.Item = Item;\n",
    );
    for (text, expected) in [
        ("/**\n * @param {Item} item - one\n */\nfunction f(item) { item.<|>size; }", "model.js:3"),
        ("/** @param {Item} [item] */\nconst f = (item) => item.<|>size;", "model.js:3"),
        ("/** @param {Array.<Item>} items */\nfunction f(items) { items[0].<|>more(); }", "model.js:5"),
        (
            "/** @param {Item[]} items */\nfunction f(items) { items.map((item) => item.<|>more()); }",
            "model.js:5",
        ),
        ("/** @returns {?Item} */\nfunction g() {}\ng().<|>more();", "model.js:5"),
        ("/** @type {Item} */\nlet item;\nitem.<|>more();", "model.js:5"),
        (
            "class A {\n  constructor() {\n    /** @type {Item} */\n    this.item = null;\n  }\n  m() { this.item.<|>more(); }\n}",
            "model.js:5",
        ),
        (
            "/** @typedef {import('./model.js').Item} Other */\n/** @param {Other} a */\nfunction f(a) { a.<|>more(); }",
            "model.js:5",
        ),
        (
            "/**\n * @typedef Options\n * @property {Item} item\n */\n/** @param {Options} o */\nfunction f(o) { o.<|>item; }",
            "app.js:4",
        ),
        (
            "/**\n * @typedef Options\n * @property {Item} item\n */\n/** @param {Options} o */\nfunction f(o) { o.item.<|>more(); }",
            "model.js:5",
        ),
        ("/**\n * @param {{ item: Item, other: string }} o\n */\nfunction f(o) { o.<|>other; }", "app.js:3"),
        ("/** @param {Object} o */\nfunction f(o) { o.<|>unheard(); }", "unknown"),
        ("/** @param {Item} item */\n\nconst other = 1;\nfunction f(item) { item.<|>unheard; }", "unknown"),
        ("/* @param {Item} item */\nfunction f(item) { item.<|>unheard; }", "unknown"),
    ] {
        let text = format!("const {{ Item }} = require('./model.js');\n{text}\n");
        check(&[model, ("app.js", &text)], &[expected]);
    }
    // TypeScript says types itself.
    let text =
        "import { Item } from './model';\n/** @param {Item} item */\nfunction f(item) { item.<|>unheard; }\n";
    check(&[model, ("app.ts", text)], &["unknown"]);
}

#[test]
fn functions_make_instances_and_modules_are_objects_in_javascript() {
    let view = "function View(name) {\n  this.name = name;\n}\nView.prototype.render = function render() {\n  return this.NAME;\n};\nmodule.exports = View;\n";
    check(&[("a.js", &view.replace("NAME", "<|>name"))], &["a.js:2"]);
    check(&[("a.js", &view.replace("NAME", "<|>render"))], &["a.js:4"]);
    let view = ("view.js", view);
    for (text, expected) in [
        ("const View = require('./view');\nnew View('a').<|>render();\n", "view.js:4"),
        ("const View = require('./view');\nnew View('a').<|>name;\n", "view.js:2"),
        ("exports.f = function () {};\nconst g = exports.<|>f;\n", "app.js:1"),
        ("const f = function () {};\nexports.<|>g = f;\n", "app.js:1"),
        ("const f = function () {};\nmodule.<|>exports = f;\n", "app.js:1"),
        ("const f = function () {};\n<|>exports.g = f;\n", "app.js:1"),
        ("// About.\n'use strict';\n<|>exports.g = 1;\n", "app.js:2"),
        ("const o = {\n  a: 1,\n  m() { return this.<|>a; },\n};\n", "app.js:2"),
        ("function f() { return this.<|>unheard; }\n", "external"),
        ("const { one } = require('./given');\n<|>one();\n", "given.js:1"),
        ("const { two } = require('./given');\n<|>two;\n", "given.js:2"),
        ("const given = require('./given');\ngiven.<|>two;\n", "given.js:2"),
        ("const { three } = require('./codes');\n<|>three;\n", "codes.js:2"),
    ] {
        let given = ("given.js", "function one() {}\nmodule.exports = { one, two: 2 };\n");
        let codes = ("codes.js", "const codes = {\n  three: 3,\n};\nmodule.exports = codes;\n");
        check(&[view, given, codes, ("app.js", text)], &[expected]);
    }
    check(&[("a.js", "function one() {}\nmodule.exports = { <|>one };\n")], &["a.js:1"]);
    let given = ("given.js", "function one() {}\nmodule.exports = { one, two: 2 };\n");
    for (text, expected) in [
        // A member is the key as well as the function; a name that was taken out is the function.
        ("const given = require('./given');\ngiven.<|>one();\n", vec!["given.js:1", "given.js:2"]),
        ("const { one } = require('./given');\n<|>one();\n", vec!["given.js:1"]),
        ("const { <|>two: three } = require('./given');\n", vec!["given.js:2"]),
        ("require('./given').<|>two;\n", vec!["given.js:2"]),
        ("'use strict';\nmodule.<|>exports = { a: 1 };\n", vec!["app.js:1"]),
        ("'use strict';\nmodule.<|>exports.a = 1;\n", vec!["app.js:1"]),
        ("'use strict';\n/** @type {A} */\nmodule.<|>exports = { a: 1 };\n", vec!["app.js:3"]),
    ] {
        check(&[given, ("app.js", text)], &expected);
    }
}

#[test]
fn namespaces_types_in_comments_and_links_are_followed() {
    let types = (
        "types/index.d.ts",
        "export namespace Rule {\n  interface Module {\n    create(context: Context): void;\n  }\n  interface Context {\n    id: string;\n  }\n}\nexport interface Module {\n  other: number;\n}\n",
    );
    for (path, text, expected) in [
        (
            "a.ts",
            "import { Rule } from './types';\nlet m: Rule.Module;\nm.<|>create();\n",
            "types/index.d.ts:3",
        ),
        ("a.ts", "import { Module } from './types';\nlet m: Module;\nm.<|>other;\n", "types/index.d.ts:10"),
        ("a.ts", "import { Rule } from './types';\nlet m: Rule.<|>Module;\n", "types/index.d.ts:2"),
        (
            "a.js",
            "/** @type {import('./types').Rule.Module} */\nmodule.exports = { <|>create() {} };\n",
            "types/index.d.ts:3",
        ),
        (
            "a.js",
            "/** @type {import('./types').Rule.Module} */\nconst m = { create(context) { context.<|>id; } };\n",
            "types/index.d.ts:6",
        ),
        ("a.ts", "class A {\n  m() {}\n}\n/** {@link A#<|>m} */\nconst b = 1;\n", "a.ts:2"),
        ("a.ts", "function f() {\n  const a = {\n    b: 1,\n  } as const;\n  a.<|>b;\n}\n", "a.ts:3"),
        ("a.ts", "interface A {\n  (a: 1): A\n  <T>(a: T): A\n}\nexport type B = A\nlet b: <|>B\n", "a.ts:5"),
        (
            "a.ts",
            "class A {\n  m(a: () => void): void;\n  m(a: string): void;\n  m(a: any) {}\n}\nnew A().<|>m(`a`);\n",
            "a.ts:3",
        ),
    ] {
        check(&[types, (path, text)], &[expected]);
    }
    let rules = [
        types,
        ("one.js", "/** @type {import('./types').Rule.Module} */\nmodule.exports = {\n  create() {},\n};\n"),
        ("two.js", "/** @type {import('./types').Rule.Module} */\nconst two = {\n  create() {},\n};\n"),
        ("other.js", "const other = {\n  create() {},\n};\n"),
    ];
    assert_eq!(uses(&rules, "Module.create"), ["one.js:3", "two.js:3"]);
    let documented = [(
        "a.js",
        "class A {}\n/**\n * @param {A[]} a One.\n * @returns {{ A: string }} Another.\n */\nfunction f(a) {}\n",
    )];
    assert_eq!(uses(&documented, "A"), ["a.js:3"]);
}

#[test]
fn modules_are_found_by_settings_and_packages() {
    let files = [
        (
            "tsconfig.json",
            "{\n  // Names.\n  \"compilerOptions\": { \"baseUrl\": \".\", \"paths\": { \"@/*\": [\"app/*\"] } }\n}\n",
        ),
        ("app/util.ts", "export const one = 1;\n"),
        ("app/nested/tsconfig.json", "{ \"extends\": \"../../tsconfig.json\" }\n"),
        (
            "packages/core/package.json",
            "{ \"name\": \"@own/core\", \"main\": \"dist/index.js\", \"exports\": { \".\": \"./dist/index.js\", \"./tools/*\": \"./src/tools/*.ts\" }, \"imports\": { \"#deep\": \"./src/deep.ts\" } }\n",
        ),
        (
            "packages/core/src/index.ts",
            "export * from './deep.js';\nexport { two as renamed } from './deep';\n",
        ),
        ("packages/core/src/deep.ts", "export const two = 2;\n"),
        ("packages/core/src/tools/hammer.ts", "export const three = 3;\n"),
        ("packages/plain/package.json", "{ \"name\": \"plain\" }\n"),
        ("packages/plain/index.js", "exports.four = 4;\n"),
        ("app/handed.ts", "export { one } from 'nowhere';\n"),
        ("node_modules/elsewhere/index.js", ""),
        ("node_modules/@types/some__typed/index.d.ts", ""),
        ("node_modules/@types/node/index.d.ts", ""),
    ];
    for (path, text, expected) in [
        ("app/a.ts", "import { one } from '@/util';\n<|>one;\n", "app/util.ts:1"),
        ("app/a.ts", "import { one } from 'app/util';\n<|>one;\n", "app/util.ts:1"),
        ("app/nested/a.ts", "import { one } from '@/util';\n<|>one;\n", "app/util.ts:1"),
        ("app/a.ts", "import { two } from '@own/core';\n<|>two;\n", "packages/core/src/deep.ts:1"),
        ("app/a.ts", "import { renamed } from '@own/core';\n<|>renamed;\n", "packages/core/src/deep.ts:1"),
        (
            "app/a.ts",
            "import { three } from '@own/core/tools/hammer';\n<|>three;\n",
            "packages/core/src/tools/hammer.ts:1",
        ),
        ("packages/core/src/b.ts", "import { two } from '#deep';\n<|>two;\n", "packages/core/src/deep.ts:1"),
        ("app/a.js", "const { four } = require('plain');\n<|>four;\n", "packages/plain/index.js:1"),
        ("app/a.ts", "import { one } from 'elsewhere';\n<|>one;\n", "external"),
        ("app/a.ts", "import { one } from 'elsewhere/deep';\n<|>one;\n", "external"),
        ("app/a.ts", "import one from '@some/typed';\n<|>one;\n", "external"),
        ("app/a.ts", "import * as one from 'node:fs';\n<|>one;\n", "external"),
        ("app/a.ts", "import { one } from 'fs';\n<|>one;\n", "external"),
        // Of what is neither here nor installed, the import is all there is.
        ("app/a.ts", "import { one } from 'nowhere';\n<|>one;\n", "app/a.ts:1"),
        ("app/a.ts", "import { two as one } from 'nowhere';\n<|>one;\n", "app/a.ts:1"),
        ("app/a.ts", "import one from '@some/where';\n<|>one;\n", "app/a.ts:1"),
        ("app/a.ts", "import { one } from '@own/other';\n<|>one;\n", "app/a.ts:1"),
        ("app/a.ts", "import { one } from '@/missing';\n<|>one;\n", "app/a.ts:1"),
        ("app/a.ts", "import { one } from './handed';\n<|>one;\n", "app/a.ts:1"),
    ] {
        let mut all = files.to_vec();
        all.push((path, text));
        check(&all, &[expected]);
    }
}

#[test]
fn type_parameters_stand_for_what_a_type_is_written_with() {
    let types = (
        "types.ts",
        "export class Item {\n  size = 1;\n}\nexport class Box<T> {\n  value: T;\n  get(): T { return this.value; }\n}\nexport class Named<K, V> extends Box<V> {\n  key: K;\n}\nexport class ItemBox extends Named<string, Item> {\n  more() {}\n}\n",
    );
    for text in [
        "function f(box: Box<Item>) { box.value.<|>size; }",
        "function f(box: Box<Item>) { box.get().<|>size; }",
        "function f(box: Named<string, Item>) { box.value.<|>size; }",
        "function f(box: ItemBox) { box.value.<|>size; }",
        "class Own extends ItemBox { m() { this.value.<|>size; } }",
        "function f(box: Box<Item[]>) { box.value.map((item) => item.<|>size); }",
    ] {
        let text = format!("import {{ Box, Item, ItemBox, Named }} from './types';\n{text}\n");
        check(&[types, ("app.ts", &text)], &["types.ts:2"]);
    }
}

#[test]
fn names_that_mean_more_than_themselves() {
    let other = ("b.ts", "export const one = 1;\nexport interface Two {\n  three: number;\n}\n");
    for (text, expected) in [
        ("import * as b from './b';\n<|>b.one;\n", vec!["a.ts:1"]),
        ("import * as b from './b';\nb.<|>one;\n", vec!["b.ts:1"]),
        ("import * as <|>b from './b';\n", vec!["b.ts:1"]),
        ("import * as b from 'outside';\n<|>b.one;\n", vec!["a.ts:1"]),
        ("import { Two } from './b';\ndeclare const two: Two;\nconst { <|>three } = two;\n", vec!["b.ts:3"]),
        (
            "import { Two } from './b';\ndeclare const two: Two;\nconst { <|>three: four } = two;\n",
            vec!["b.ts:3"],
        ),
        (
            "import { Two } from './b';\ndeclare const two: Two;\nconst { three } = two;\n<|>three;\n",
            vec!["a.ts:3"],
        ),
        ("export const Both = 1;\nexport type <|>Both = typeof Both;\n", vec!["a.ts:1", "a.ts:2"]),
        ("class C {\n  m() {}\n  get p(): C { return this; }\n}\nnew C().p.<|>m();\n", vec!["a.ts:2"]),
        ("class C {\n  m() {}\n  get p() { return new C(); }\n}\nnew C().p.<|>m();\n", vec!["a.ts:2"]),
        ("class C {\n  <|>m(a: string): void;\n  m(a: any) {}\n}\n", vec!["a.ts:3"]),
        ("interface F { x: 1 }\nfunction F() {}\n<|>F();\n", vec!["a.ts:2"]),
    ] {
        check(&[other, ("a.ts", text)], &expected);
    }
}

#[test]
fn accessors_are_called_where_properties_are_read_and_set() {
    let text = "class A {\n  get x() { return 1; }\n  set x(v) { this.y = v; }\n}\nfunction read(a: A) { return a.x; }\nfunction write(a: A) { a.x = 1; }\nfunction both(a: A) { a.x += 1; }\nfunction other(b: B) { return b.x === 1; }\nfunction compare(a: A) { return a.x === 1; }\n";
    for path in ["a.ts", "a.js"] {
        // Without types the receiver is known by what it is made of.
        let made = "const a = new A();\n";
        let text = if path == "a.js" {
            text.replace("a: A", "").replace("b: B", "b") + made
        } else {
            text.to_owned()
        };
        let (_folder, index) = workspace(&[(path, &text)]);
        let resolver = Resolver::new(&index);
        let named = |name: &str| resolver.definitions_named(name).into_iter().next().unwrap();
        let accessors = resolver.definitions_named("A.x");
        let callers = |target: &DefinitionSite| -> Vec<String> {
            resolver.callers(target).into_iter().map(|call| call.function.definition.name).collect()
        };
        let [getter, setter] = accessors.as_slice() else { panic!("{accessors:?}") };
        assert_eq!(callers(getter), ["read", "both", "compare"], "{path}");
        assert_eq!(callers(setter), ["write", "both"], "{path}");
        for (function, line) in [("read", 2), ("write", 3)] {
            let called = resolver.callees(&named(function));
            let lines: Vec<u32> = called.iter().map(|call| call.function.definition.at.line).collect();
            assert_eq!(lines, [line], "{path} {function}");
        }
    }
}

#[test]
fn calls_that_are_known_by_name_alone_say_so() {
    use crate::ask::{Ask, CallOptions, Target};
    let text = "class A {\n  only() {}\n}\nfunction sure(a: A) { a.only(); }\nfunction unsure(a) { a.only(); }\nfunction twice(a, b: A) { a.only(); b.only(); }\n";
    let (_folder, index) = workspace(&[("a.ts", text)]);
    let options = |direction| CallOptions { direction, depth: 1, max_nodes: 10 };
    let callers =
        Ask::new(&index).call_graph(&Target::parse("A.only"), options(Direction::Callers)).unwrap().graph;
    assert_eq!(
        callers.text(Direction::Callers).lines().next(),
        Some("A.only (a.ts:2) <- sure, unsure (by name), twice"),
    );
    assert!(callers.mermaid().contains("n2 -.-> n0"), "{}", callers.mermaid());
    assert!(callers.dot().contains("n2 -> n0 [style=dashed];"), "{}", callers.dot());
    let callees =
        Ask::new(&index).call_graph(&Target::parse("unsure"), options(Direction::Callees)).unwrap().graph;
    assert!(callees.text(Direction::Callees).contains("-> A.only (by name)"), "{callees:?}");
}
