/// Numbers, times and paths as a person reads them.
import { language, t } from './i18n/index.svelte';

export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.round((ms % 60_000) / 1000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function bytes(count: number): string {
  if (count < 1024) return `${count} B`;
  if (count < 1024 * 1024) return `${(count / 1024).toFixed(count < 10_240 ? 1 : 0)} KB`;
  return `${(count / 1024 / 1024).toFixed(1)} MB`;
}

export function tokens(count: number): string {
  if (count < 1000) return String(count);
  if (count < 1_000_000) return `${(count / 1000).toFixed(count < 10_000 ? 1 : 0)}k`;
  return `${(count / 1_000_000).toFixed(2)}M`;
}

export function money(usd: number | null | undefined): string {
  if (usd == null) return '';
  if (usd === 0) return '$0';
  if (usd < 0.01) return `$${usd.toFixed(4)}`;
  return `$${usd.toFixed(2)}`;
}

export function ago(ts: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - ts) / 1000));
  if (seconds < 60) return t('time.now');
  if (seconds < 3600) return t('time.minutes', { n: Math.floor(seconds / 60) });
  if (seconds < 86_400) return t('time.hours', { n: Math.floor(seconds / 3600) });
  if (seconds < 7 * 86_400) return t('time.days', { n: Math.floor(seconds / 86_400) });
  return new Date(ts).toLocaleDateString(language() === 'zh' ? 'zh-CN' : undefined);
}

export function clock(ts: number): string {
  return new Date(ts).toLocaleString(language() === 'zh' ? 'zh-CN' : undefined, { dateStyle: 'medium', timeStyle: 'short' });
}

export function baseName(path: string): string {
  return path.split(/[\\/]/).filter(Boolean).at(-1) ?? path;
}

/** A path as seen from a folder, where it lies within. */
export function within(path: string, folder: string): string {
  const root = folder.endsWith('/') ? folder : `${folder}/`;
  return path.startsWith(root) ? path.slice(root.length) : path;
}

export function firstLine(text: string): string {
  const end = text.indexOf('\n');
  return end === -1 ? text : text.slice(0, end);
}
