/// Text that streams in pieces. Offsets of the protocol count UTF-8 bytes; strings here count UTF-16 units.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Length of a text in UTF-8 bytes. */
export function byteLength(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (unit >= 0xd800 && unit < 0xdc00 && index + 1 < text.length) {
      // A surrogate pair is two units here and four bytes there.
      bytes += 2;
      index += 1;
    } else bytes += 2;
  }
  return bytes;
}

/** A text with its length in bytes, so that a piece at the end costs nothing but the piece. */
export interface ByteText {
  text: string;
  bytes: number;
}

export function byteText(text: string): ByteText {
  return { text, bytes: byteLength(text) };
}

/**
 * Puts a piece into a text that streams. A piece that is known already changes nothing; one that begins at 0 while there is text
 * begins the text anew, because the connection was lost in between.
 */
export function splice(into: ByteText, offset: number, piece: string): void {
  if (offset >= into.bytes) {
    into.text += piece;
    into.bytes += byteLength(piece);
    return;
  }
  const whole = encoder.encode(into.text);
  const isBoundary = ((whole[offset] ?? 0) & 0xc0) !== 0x80;
  if (isBoundary && decoder.decode(whole.subarray(offset)).startsWith(piece)) return;
  let end = offset;
  while (end > 0 && ((whole[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  into.text = decoder.decode(whole.subarray(0, end)) + piece;
  into.bytes = byteLength(into.text);
}

/** The end of a text: at most `keep` bytes, cut at a character. */
export function lastBytes(text: string, keep: number): string {
  const whole = encoder.encode(text);
  let start = Math.max(0, whole.length - keep);
  while (start < whole.length && ((whole[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return decoder.decode(whole.subarray(start));
}
