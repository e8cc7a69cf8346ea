/** A text that the browser keeps. Where it blocks storage, the text lasts until the page is closed. */
export class StoredText {
  private readonly key: string;
  private text: string;
  private readonly listeners = new Set<() => void>();

  /** @param initial the text until one is written */
  constructor(key: string, initial: string) {
    this.key = key;
    this.text = initial;
  }

  readonly read = (): string => {
    try {
      return window.localStorage.getItem(this.key) ?? this.text;
    } catch {
      return this.text;
    }
  };

  write(text: string): void {
    this.text = text;
    try {
      window.localStorage.setItem(this.key, text);
    } catch {
      // The text is kept here.
    }
    for (const listener of this.listeners) listener();
  }

  /** Also notifies of what other tabs write. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    window.addEventListener('storage', listener);
    return () => {
      this.listeners.delete(listener);
      window.removeEventListener('storage', listener);
    };
  };
}
