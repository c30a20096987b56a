//! What a search in a small workspace finds.

use crate::index::tests::workspace;
use crate::search;

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
        let hits = search::search(&index, question, 5).hits;
        assert_eq!(hits.first().map(|hit| hit.path.as_str()), Some(expected), "{question}: {hits:?}");
    }
    assert!(search::search(&index, "the of", 5).hits.is_empty());
    assert!(search::search(&index, "zebra", 5).hits.is_empty());
    let map = search::map(&index, 1000);
    assert!(map.contains("Store.remove_user:2"), "{map}");
    assert!(search::map(&index, 1).is_empty());
}
