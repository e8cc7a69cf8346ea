/** Drives the page as its user does. Waits for changes of the document, not for time. */

/** Resolves to the first element that matches and contains the text, now or after a change. */
export function find(selector: string, text = ''): Promise<HTMLElement> {
  const search = (): HTMLElement | undefined =>
    [...document.querySelectorAll<HTMLElement>(selector)].find((element) => element.textContent.includes(text));
  return new Promise((resolve) => {
    const observer = new MutationObserver(check);
    function check(): void {
      const element = search();
      if (element === undefined) return;
      observer.disconnect();
      resolve(element);
    }
    observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
    check();
  });
}

export async function click(selector: string, text?: string): Promise<void> {
  (await find(selector, text)).click();
}

/** Types into a field. React listens to the event and compares with the value that its own setter has recorded. */
export async function type(selector: string, value: string): Promise<void> {
  const input = await find(selector);
  Reflect.set(HTMLInputElement.prototype, 'value', value, input);
  input.dispatchEvent(new Event('input', { bubbles: true }));
}
