/// What the person prefers in this browser: theme, language, sizes, drafts. Kept by the host.
import type { Host } from '../host/host';
import { type Language, preferredLanguage, setLanguage } from '../i18n/index.svelte';

export type Theme = 'system' | 'light' | 'dark' | 'contrast';

export class Prefs {
  theme = $state<Theme>('system');
  railWidth = $state(264);
  inspectorWidth = $state(520);
  inspectorOpen = $state(true);
  railOpen = $state(true);

  constructor(private readonly host: Host) {
    this.theme = (host.load('theme') as Theme | null) ?? 'system';
    this.inspectorWidth = Number(host.load('inspectorWidth') ?? 520) || 520;
    this.inspectorOpen = host.load('inspectorOpen') !== 'no';
    this.railOpen = host.load('railOpen') !== 'no';
    setLanguage((host.load('language') as Language | null) ?? preferredLanguage());
    this.applyTheme();
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    this.host.store('theme', theme);
    this.applyTheme();
  }

  setLanguage(language: Language): void {
    setLanguage(language);
    this.host.store('language', language);
  }

  setInspectorWidth(width: number): void {
    this.inspectorWidth = Math.round(Math.min(Math.max(width, 320), Math.max(360, window.innerWidth - 560)));
    this.host.store('inspectorWidth', String(this.inspectorWidth));
  }

  toggleInspector(open = !this.inspectorOpen): void {
    this.inspectorOpen = open;
    this.host.store('inspectorOpen', open ? 'yes' : 'no');
  }

  toggleRail(open = !this.railOpen): void {
    this.railOpen = open;
    this.host.store('railOpen', open ? 'yes' : 'no');
  }

  draft(task: string): string {
    return this.host.load(`draft.${task}`) ?? '';
  }

  keepDraft(task: string, text: string): void {
    this.host.store(`draft.${task}`, text === '' ? null : text);
  }

  private applyTheme(): void {
    document.documentElement.dataset.theme = this.theme;
  }
}
