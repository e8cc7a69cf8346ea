/** Drives the page as its user does. Waits for changes of the document, not for time. */

/** Milliseconds after which a wait reports what the page shows instead. */
const TIMEOUT = 15_000;

/** Resolves to the first element that matches and contains the text, now or after a change. */
export function find(selector: string, text = ''): Promise<HTMLElement> {
  return new Promise((resolve, reject) => {
    const observer = new MutationObserver(check);
    const timer = setTimeout(() => {
      observer.disconnect();
      reject(new Error(`No "${selector}" with "${text}" appeared. The page shows: ${document.body.innerText}`));
    }, TIMEOUT);
    function check(): void {
      const candidates = [...document.querySelectorAll<HTMLElement>(selector)];
      const element = candidates.find(({ textContent }) => textContent.includes(text));
      if (element === undefined) return;
      observer.disconnect();
      clearTimeout(timer);
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
