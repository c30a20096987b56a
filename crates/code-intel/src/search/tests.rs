//! What a search in a small workspace finds.

use crate::index::tests::workspace;
use crate::index::{FileId, Index};
use crate::search::{self, Hits, Question};

fn search(index: &Index, words: &str, open_files: &[&str]) -> Hits {
    let open_files: Vec<FileId> = open_files.iter().map(|path| index.file(path).unwrap()).collect();
    search::search(index, &Question { words, vector: None, open_files: &open_files, limit: 5 })
}

#[test]
fn whole_symbols_are_found_by_their_words_and_by_those_that_mean_the_same() {
    let (_folder, index) = workspace(&[
        (
            "store.py",
            "class Store:\n    def remove_user(self, name):\n        \"\"\"Takes an account away.\"\"\"\n        pass\n\n    def add(self):\n        pass\n",
        ),
        (
            "net.py",
            "def openSocket(host):\n    return host\n\n\ndef retry_request():\n    # waits a little longer each time\n    openSocket('a')\n",
        ),
    ]);
    for (question, expected) in [
        ("remove user", "Store.remove_user"),
        ("where do we delete an account", "Store.remove_user"),
        ("删除用户", "Store.remove_user"),
        ("open socket", "openSocket"),
        ("waits longer", "retry_request"),
    ] {
        let hits = search(&index, question, &[]).hits;
        assert_eq!(hits.first().map(|hit| hit.path.as_str()), Some(expected), "{question}: {hits:?}");
    }
    assert!(search(&index, "the of", &[]).hits.is_empty());
    assert!(search(&index, "zebra", &[]).hits.is_empty());
    let map = search::map(&index, 1000);
    assert!(map.contains("Store.remove_user:2"), "{map}");
    assert!(search::map(&index, 1).is_empty());
}

#[test]
fn forms_and_words_within_names_are_found_in_many_files() {
    let others: Vec<(String, String)> = (0..600)
        .map(|number| {
            (format!("other/f{number}.py"), format!("def other_{number}(page):\n    return page\n"))
        })
        .collect();
    let mut files: Vec<(&str, &str)> =
        others.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    files.push(("zone/alloc.py", "def allocPages(order):\n    return order\n\n\ndef rest():\n    pass\n"));
    let (_folder, index) = workspace(&files);
    for question in ["allocate pages", "page allocation", "alloc_page"] {
        let hits = search(&index, question, &[]);
        assert_eq!(hits.hits[0].path, "allocPages", "{question}: {hits:?}");
        assert!(!hits.is_cut);
    }
}

#[test]
fn what_is_near_the_open_files_comes_first() {
    let text = "def send(message):\n    return message\n";
    let (_folder, index) = workspace(&[
        ("a/mail.py", text),
        ("b/mail.py", text),
        ("c/mail.py", text),
        ("b/user.py", "import os\n"),
        ("far.py", "from c import mail\n"),
    ]);
    for (open_files, expected) in [
        (vec![], "a/mail.py"),
        (vec!["b/user.py"], "b/mail.py"),
        (vec!["c/mail.py"], "c/mail.py"),
        (vec!["far.py"], "c/mail.py"),
    ] {
        let hits = search(&index, "send message", &open_files);
        assert_eq!(index.path(hits.hits[0].site.file), expected, "{open_files:?}");
    }
}

#[test]
fn tests_rank_below_the_code_that_they_are_about() {
    let (_folder, index) = workspace(&[
        ("a_test.go", "package a\n\n// TestDeleteUser deletes a user.\nfunc TestDeleteUser() {}\n"),
        (
            "tests/test_user.py",
            "def delete_user():\n    \"\"\"Deletes a user of the delete user test.\"\"\"\n",
        ),
        ("latest/user.py", "def remove_account(user):\n    pass\n"),
        ("src/lib.rs", "#[cfg(test)]\nmod tests {\n    fn delete_user_works() {}\n}\n"),
    ]);
    let hits = search(&index, "delete user", &[]).hits;
    assert_eq!(hits[0].path, "remove_account", "{hits:?}");
    let hits = search(&index, "test delete user", &[]).hits;
    assert_ne!(hits[0].path, "remove_account", "{hits:?}");
}

#[test]
fn what_the_field_writes_short_is_found_by_what_it_stands_for() {
    for (name, question) in [
        ("check_csrf_token", "cross site request forgery"),
        ("cross_site_request_forgery_guard", "csrf"),
        ("verifyXsrf", "protect against CSRF"),
        ("gunzip_body", "decompress the response"),
        ("inflate", "gzip"),
        ("decompress", "gzip"),
        ("gzip_reader", "decompress"),
        ("JwtVerifier", "json web tokens"),
        ("parse_regular_expression", "regex"),
        ("lru_cache", "least recently used"),
        ("throttle", "rate limiting"),
        ("abstract_syntax_tree", "ast"),
        ("new_guid", "uuid"),
        ("i18n_text", "internationalization"),
    ] {
        let text = format!("def {name}(x):\n    return x\n\n\ndef other(y):\n    return y\n");
        let (_folder, index) = workspace(&[("a.py", &text)]);
        let hits = search(&index, question, &[]).hits;
        assert_eq!(hits.first().map(|hit| hit.path.as_str()), Some(name), "{question}: {hits:?}");
    }
}
