/// Words of the page in the person's language. Keys are those of the English dictionary, so a missing one does not compile.
import { en } from './en';
import { zh } from './zh';

export type Language = 'en' | 'zh';
export type Key = keyof typeof en;
export type Dictionary = Record<Key, string>;

const dictionaries: Record<Language, Dictionary> = { en, zh };

class Words {
  language = $state<Language>('en');
}

const words = new Words();

export function language(): Language {
  return words.language;
}

export function setLanguage(language: Language): void {
  words.language = language;
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : 'en';
}

export function preferredLanguage(): Language {
  return navigator.languages.find((tag) => /^(zh|en)\b/i.test(tag))?.toLowerCase().startsWith('zh') ? 'zh' : 'en';
}

/** Says a thing in the chosen language. `{name}` in the text is replaced by the value of that name. */
export function t(key: Key, values?: Record<string, string | number>): string {
  const text = dictionaries[words.language][key];
  if (!values) return text;
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

/** Says a thing whose key is made from a value of the protocol; an unknown value is said as it is. */
export function tv(prefix: string, value: string): string {
  const key = `${prefix}.${value}`;
  return key in en ? t(key as Key) : value;
}
