/** What a tool call needs of its run's `AbortSignal`. Runs implement it with less memory than a signal takes. */
export interface AbortSource {
  readonly aborted: boolean;
  /** It ends here only: another process goes on. */
  readonly isHandedOver?: boolean;
  addEventListener(type: 'abort', listener: AbortListener, options?: { readonly once: boolean }): void;
  removeEventListener(type: 'abort', listener: AbortListener): void;
}

export interface AbortListener {
  handleEvent(): void;
}
