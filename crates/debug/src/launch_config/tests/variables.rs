//! Each variable as a row.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::json;

use super::super::variables::Substitution;
use super::super::*;
use super::{context, object};

fn resolved(text: &str, ctx: &Context, inputs: &[InputRequest]) -> Result<String> {
    let mut substitution = Substitution::new(ctx, inputs);
    let text = substitution.text(text)?;
    substitution.finish().map(|()| text)
}

fn inputs() -> Vec<InputRequest> {
    let written = [
        json!({"id": "name", "type": "promptString", "description": "Whom to greet"}),
        json!({"id": "quiet", "type": "promptString", "default": "no"}),
        json!({"id": "nested", "type": "promptString", "default": "${workspaceFolderBasename}!"}),
        json!({"id": "level", "type": "pickString", "description": "How loud",
               "options": ["low", {"label": "High", "value": "high"}]}),
        json!({"id": "asked", "type": "command", "command": "extension.ask"}),
    ];
    written.iter().map(|fields| InputRequest::from_json(fields.as_object().unwrap()).unwrap()).collect()
}

fn table(rows: &[&str], ctx: &Context) -> String {
    let mut told = String::new();
    for row in rows {
        match resolved(row, ctx, &inputs()) {
            Ok(value) => told.push_str(&format!("{row} = {value}\n")),
            Err(error) => told.push_str(&format!("{row} ! {error}\n")),
        }
    }
    told
}

#[test]
fn secrets_stay_placeholders_in_launch_json_and_are_refused_elsewhere() {
    let mut ctx = context();
    ctx.environment.extend([("TOKEN", "t0ps3cret"), ("PLAIN", "shown")].map(|(a, b)| (a.into(), b.into())));
    ctx.inputs.insert("name".to_owned(), "${env:TOKEN}".to_owned());
    let rows = ["-k ${env:TOKEN} ${env:PLAIN}", "${env:TOKEN:more}", "${input:name}", "${env:PLAIN}"];
    let names = std::collections::BTreeSet::from(["TOKEN".to_owned()]);
    ctx.secrets = SecretUse::Held(names.clone());
    check(
        &rows,
        &ctx,
        expect![[r#"
            -k ${env:TOKEN} ${env:PLAIN} = -k ${env:TOKEN} shown
            ${env:TOKEN:more} = ${env:TOKEN}
            ${input:name} ! `${env:TOKEN}` cannot be resolved: it holds a secret, which only the folder's own launch.json may name
            ${env:PLAIN} = shown
        "#]],
    );
    assert_eq!(ctx.secret_values().expanded("-k ${env:TOKEN}"), "-k t0ps3cret");
    ctx.secrets = SecretUse::Refused(names);
    let told = table(&rows[..1], &ctx);
    assert!(told.contains("it holds a secret") && !told.contains("t0ps3cret"), "{told}");
    assert!(ctx.secret_values().is_empty());
}

fn check(rows: &[&str], ctx: &Context, expected: Expect) {
    expected.assert_eq(&table(rows, ctx));
}

#[test]
fn every_variable_has_its_value() {
    let mut ctx = context();
    ctx.settings.push(object(json!({
        "python.path": "/usr/bin/python3",
        "tool": {"port": 9, "on": true, "deep.er": "x"},
        "list": ["a", 1],
    })));
    ctx.commands.insert("pickProcess".to_owned(), "4711".to_owned());
    ctx.inputs.insert("level".to_owned(), "High".to_owned());
    check(
        &[
            "${workspaceFolder}",
            "${workspaceFolder:api}",
            "${workspaceFolder:none}",
            "${workspaceRoot}",
            "${workspaceFolderBasename}",
            "${workspaceFolderBasename:api}",
            "${workspaceRootFolderName}",
            "${cwd}",
            "${userHome}",
            "${execPath}",
            "${execInstallFolder}",
            "${pathSeparator}",
            "a${/}b",
            "${file}",
            "${fileWorkspaceFolder}",
            "${fileWorkspaceFolderBasename}",
            "${relativeFile}",
            "${relativeFile:api}",
            "${relativeFileDirname}",
            "${fileDirname}",
            "${fileDirnameBasename}",
            "${fileBasename}",
            "${fileBasenameNoExtension}",
            "${fileExtname}",
            "${lineNumber}",
            "${columnNumber}",
            "${selectedText}",
            "${env:PORT}",
            "${env:MISSING}.",
            "${env}",
            "${env:}",
            "${env:FOLDER}",
            "${config:python.path}",
            "${config:tool.port}",
            "${config:tool.on}",
            "${config:tool.deep.er}",
            "${config:list}",
            "${config:tool}",
            "${config:python}",
            "${config:none}",
            "${config}",
            "${command:pickProcess}",
            "${command:cmake.launchTargetPath}",
            "${command:extension.pickNativeProcess}",
            "${extensionInstallFolder:x.y}",
            "${input:quiet}",
            "${input:nested}",
            "${input:level}",
            "${input:name}",
            "${input:asked}",
            "${input:none}",
            "${unknown}",
            "${unknown:x}",
            "${}",
            "${defaultBuildTask}",
            "${a${cwd}}",
            "${env:${cwd}}",
            "${env:PORT:x}",
            "${workspaceFolder:}",
            "${open",
            "$PORT {x}",
            "${line\nbreak}${env:PORT}",
            "${env:PORT}${env:PORT}",
        ],
        &ctx,
        expect![[r#"
            ${workspaceFolder} = /work/shop
            ${workspaceFolder:api} = /work/api
            ${workspaceFolder:none} ! `${workspaceFolder:none}` cannot be resolved: there is no folder `none`; there are `shop`, `api`
            ${workspaceRoot} = /work/shop
            ${workspaceFolderBasename} = shop
            ${workspaceFolderBasename:api} = api
            ${workspaceRootFolderName} = shop
            ${cwd} = /work/shop
            ${userHome} = /home/me
            ${execPath} = /opt/editor/bin/code
            ${execInstallFolder} = /opt/editor/bin
            ${pathSeparator} = /
            a${/}b = a/b
            ${file} = /work/shop/src/deep/cart.test.py
            ${fileWorkspaceFolder} = /work/shop
            ${fileWorkspaceFolderBasename} = shop
            ${relativeFile} = src/deep/cart.test.py
            ${relativeFile:api} = ../shop/src/deep/cart.test.py
            ${relativeFileDirname} = src/deep
            ${fileDirname} = /work/shop/src/deep
            ${fileDirnameBasename} = deep
            ${fileBasename} = cart.test.py
            ${fileBasenameNoExtension} = cart.test
            ${fileExtname} = .py
            ${lineNumber} = 42
            ${columnNumber} = 7
            ${selectedText} = total
            ${env:PORT} = 8080
            ${env:MISSING}. = .
            ${env} ! `${env}` cannot be resolved: it names no environment variable
            ${env:} ! `${env:}` cannot be resolved: it names no environment variable
            ${env:FOLDER} = /work/shop/x
            ${config:python.path} = /usr/bin/python3
            ${config:tool.port} = 9
            ${config:tool.on} = true
            ${config:tool.deep.er} = x
            ${config:list} = a,1
            ${config:tool} ! `${config:tool}` cannot be resolved: setting `tool` has parts and no value of its own
            ${config:python} ! `${config:python}` cannot be resolved: setting `python` has parts and no value of its own
            ${config:none} ! `${config:none}` cannot be resolved: there is no setting `none`
            ${config} ! `${config}` cannot be resolved: it names no setting
            ${command:pickProcess} = 4711
            ${command:cmake.launchTargetPath} ! `${command:cmake.launchTargetPath}` needs an editor's extension
            ${command:extension.pickNativeProcess} ! `${command:extension.pickNativeProcess}` asks which process is meant
            ${extensionInstallFolder:x.y} ! `${extensionInstallFolder:x.y}` cannot be resolved: no extensions of an editor are installed here
            ${input:quiet} = no
            ${input:nested} = shop!
            ${input:level} = high
            ${input:name} ! values are needed for `name` (Whom to greet)
            ${input:asked} ! values are needed for `asked`, which `extension.ask` would give in an editor
            ${input:none} ! `${input:none}` cannot be resolved: no input `none` is declared under `inputs`
            ${unknown} = ${unknown}
            ${unknown:x} = ${unknown:x}
            ${} = ${}
            ${defaultBuildTask} = ${defaultBuildTask}
            ${a${cwd}} = ${a${cwd}}
            ${env:${cwd}} = ${env:${cwd}}
            ${env:PORT:x} = 8080
            ${workspaceFolder:} = /work/shop
            ${open = ${open
            $PORT {x} = $PORT {x}
            ${line
            break}${env:PORT} = ${line
            break}8080
            ${env:PORT}${env:PORT} = 80808080
        "#]],
    );
}

#[test]
fn without_an_editor_its_variables_are_errors() {
    let mut ctx = context();
    ctx.editor = Editor::default();
    ctx.home = None;
    ctx.exec_path = None;
    check(
        &[
            "${file}",
            "${fileExtname}",
            "${lineNumber}",
            "${columnNumber}",
            "${selectedText}",
            "${userHome}",
            "${execPath}",
        ],
        &ctx,
        expect![[r#"
            ${file} ! `${file}` cannot be resolved: no file is open in an editor; say which one is meant
            ${fileExtname} ! `${fileExtname}` cannot be resolved: no file is open in an editor; say which one is meant
            ${lineNumber} ! `${lineNumber}` cannot be resolved: no file is open in an editor; say which one is meant
            ${columnNumber} ! `${columnNumber}` cannot be resolved: no file is open in an editor; say which one is meant
            ${selectedText} ! `${selectedText}` cannot be resolved: no text is selected
            ${userHome} ! `${userHome}` cannot be resolved: the home folder is not known
            ${execPath} = ${execPath}
        "#]],
    );
}

#[test]
fn files_at_the_edges_of_the_folder() {
    let mut ctx = context();
    let mut told = String::new();
    for file in ["/work/shop/a", "/work/shop/.bashrc", "/elsewhere/b.tar.gz", "src/rel.rs"] {
        ctx.editor.file = Some(file.into());
        let rows = [
            "${relativeFile}",
            "${relativeFileDirname}",
            "${fileBasenameNoExtension}",
            "${fileExtname}",
            "${fileWorkspaceFolder}",
        ];
        told.push_str(&format!("{file}\n{}", table(&rows, &ctx)));
    }
    expect![[r#"
        /work/shop/a
        ${relativeFile} = a
        ${relativeFileDirname} = .
        ${fileBasenameNoExtension} = a
        ${fileExtname} = 
        ${fileWorkspaceFolder} = /work/shop
        /work/shop/.bashrc
        ${relativeFile} = .bashrc
        ${relativeFileDirname} = .
        ${fileBasenameNoExtension} = .bashrc
        ${fileExtname} = 
        ${fileWorkspaceFolder} = /work/shop
        /elsewhere/b.tar.gz
        ${relativeFile} = ../../elsewhere/b.tar.gz
        ${relativeFileDirname} = ../../elsewhere
        ${fileBasenameNoExtension} = b.tar
        ${fileExtname} = .gz
        ${fileWorkspaceFolder} ! `${fileWorkspaceFolder}` cannot be resolved: `/elsewhere/b.tar.gz` is in no folder of the workspace
        src/rel.rs
        ${relativeFile} = src/rel.rs
        ${relativeFileDirname} = src
        ${fileBasenameNoExtension} = rel
        ${fileExtname} = .rs
        ${fileWorkspaceFolder} = /work/shop
    "#]].assert_eq(&told);
}

#[test]
fn a_variable_that_contains_itself_ends() {
    let mut ctx = context();
    assert_eq!(resolved("${env:SELF}", &ctx, &[]).unwrap().matches('<').count(), 8);
    ctx.environment.insert("BOMB".to_owned(), "${env:BOMB}".repeat(100));
    assert!(matches!(resolved("${env:BOMB}", &ctx, &[]), Err(LaunchError::TooLong { .. })));
}

#[test]
fn all_missing_inputs_are_asked_for_at_once() {
    let error = resolved("${input:level} ${input:name} ${input:name}", &context(), &inputs()).unwrap_err();
    let LaunchError::MissingInputs { inputs: missing } = &error else { panic!("{error}") };
    assert_eq!(missing.iter().map(|input| input.id.as_str()).collect::<Vec<_>>(), ["level", "name"]);
    expect!["values are needed for `level` (How loud): one of `low`, `high`; `name` (Whom to greet)"]
        .assert_eq(&error.to_string());
    let mut ctx = context();
    ctx.inputs.insert("level".to_owned(), "deafening".to_owned());
    expect!["`deafening` is no choice for input `level`; choose one of `low`, `high`"]
        .assert_eq(&resolved("${input:level}", &ctx, &inputs()).unwrap_err().to_string());
}

proptest! {
    #[test]
    fn no_text_makes_the_substitution_panic(text in "[${}:/a-zé\n]{0,30}") {
        resolved(&text, &context(), &inputs()).ok();
    }

    #[test]
    fn text_without_variables_stays(text in "[^$]{0,40}") {
        prop_assert_eq!(resolved(&text, &context(), &[]).unwrap(), text);
    }

    #[test]
    fn what_surrounds_a_variable_stays(before in "[^$]{0,10}", after in "[^$]{0,10}") {
        let text = format!("{before}${{env:PORT}}{after}");
        prop_assert_eq!(resolved(&text, &context(), &[]).unwrap(), format!("{before}8080{after}"));
    }
}
