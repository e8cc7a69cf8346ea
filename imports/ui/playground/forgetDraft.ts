/** Removes what the playground remembers, such as when somebody else may sign in next. */

export const DRAFT_KEY = 'bolide-playground';

export function forgetDraft(storage = sessionStorageOf(window)): void {
  storage?.removeItem(DRAFT_KEY);
}

/** Undefined where the browser blocks it. */
export function sessionStorageOf(page: Window): Storage | undefined {
  try {
    return page.sessionStorage;
  } catch {
    return undefined;
  }
}
