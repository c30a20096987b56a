//! Every encoding there and back.

use proptest::prelude::*;

use super::*;

fn encoded(text: &str, encoding: &'static encoding_rs::Encoding) -> Vec<u8> {
    encode(text, encoding).expect("the encoding has these characters")
}

#[test]
fn encodings_are_told_apart() {
    let chinese = "// 设置超时时间，单位为秒\r\nint timeout = 30; // 默认值\r\n// 连接失败时重试的次数\r\n";
    let japanese = "// タイムアウトの設定、単位は秒です\nint timeout = 30; // 初期値\nこれはテストです。\n";
    let korean = "// 시간 제한 설정, 단위는 초입니다\nint timeout = 30; // 기본값\n";
    let traditional = "// 設定逾時時間，單位為秒\nint timeout = 30; // 預設值\n這是一個測試檔案\n";
    let french = "# Résumé des préférences déjà gérées à l'été\nvaleur = 3\n";
    let cases: Vec<(Vec<u8>, &str, &str)> = vec![
        (b"plain\n".to_vec(), "UTF-8", "plain\n"),
        (encoded(chinese, encoding_rs::GBK), "GBK", chinese),
        (encoded(japanese, encoding_rs::SHIFT_JIS), "Shift_JIS", japanese),
        (encoded(japanese, encoding_rs::EUC_JP), "EUC-JP", japanese),
        (encoded(korean, encoding_rs::EUC_KR), "EUC-KR", korean),
        (encoded(traditional, encoding_rs::BIG5), "Big5", traditional),
        (encoded(french, encoding_rs::WINDOWS_1252), "windows-1252", french),
        (french.encode_utf16().flat_map(u16::to_le_bytes).collect(), "UTF-16LE", french),
        (french.encode_utf16().flat_map(u16::to_be_bytes).collect(), "UTF-16BE", french),
    ];
    for (bytes, name, text) in cases {
        let file = decode(&bytes).expect(name);
        assert_eq!((file.encoding.name(), file.text.as_str()), (name, text));
        assert_eq!(file.to_bytes().as_deref(), Ok(bytes.as_slice()), "{name}");
    }
}

#[test]
fn what_is_no_text_is_refused() {
    for bytes in [&b"\x7fELF\x02\x01\x01\0\0\0"[..], b"\x00\x01\x02\x03", b"\x80\x01\x02", b"a\0b\0\xff"] {
        assert_eq!(decode(bytes), None, "{bytes:?}");
    }
}

#[test]
fn text_an_encoding_does_not_have_is_refused() {
    let mut file = decode(b"caf\xe9\nna\xefve\n").expect("text");
    file.text.push_str("数\n");
    let refused = file.to_bytes().expect_err("no Chinese in windows-1252").to_string();
    assert_eq!(refused, "the file is stored as windows-1252, which has no `数` (line 3)");
}

proptest! {
    #[test]
    fn what_is_read_as_text_is_written_back_unchanged(bytes in proptest::collection::vec(any::<u8>(), 0..64), mark in 0usize..4) {
        let marks: [&[u8]; 4] = [b"", b"\xEF\xBB\xBF", b"\xFF\xFE", b"\xFE\xFF"];
        let whole = [marks[mark], &bytes].concat();
        if let Some(file) = decode(&whole) {
            prop_assert_eq!(file.to_bytes(), Ok(whole));
        }
    }

    /// High bytes alone look most like an encoding from before Unicode.
    #[test]
    fn legacy_text_is_written_back_unchanged(bytes in proptest::collection::vec(prop_oneof![0x20u8..0x7f, 0x80u8..=0xff], 0..64)) {
        if let Some(file) = decode(&bytes) {
            prop_assert_eq!(file.to_bytes(), Ok(bytes));
        }
    }
}
