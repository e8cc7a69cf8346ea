/**
 * A browser without a screen (jsdom) whose page is connected to the Meteor app on the stubs: `meteor/*` is what
 * `tests/stubs/client` implements, DDP messages pass as text.
 */
import { webcrypto } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Script } from 'node:vm';
import { JSDOM, VirtualConsole } from 'jsdom';
import { EJSON } from '../../stubs/meteor/ejson';
import type { DdpSocket, OpenDdpSocket } from '../../stubs/client/ClientConnection';
import type { Fields } from '../../stubs/server/MemoryCollection';
import { DdpSession } from '../../stubs/server/DdpSession';
import { until } from '../until';
import { buildPage } from './buildPage';
import type { TestPage } from './page';

let script: Promise<Script> | undefined;

/** Compiled once for all tests of a process. */
async function compilePage(): Promise<Script> {
  return new Script(await readFile(await buildPage(), 'utf8'), { filename: 'page.js' });
}

export interface MeteorBrowserOptions {
  /** A login token that an earlier visit has stored. */
  readonly token?: { readonly token: string; readonly userId: string };
}

export class MeteorBrowser {
  /** What the page wrote to its console as an error or a warning. */
  readonly errors: unknown[] = [];
  /** Messages of the client, in order. */
  readonly sent: Fields[] = [];
  readonly page: TestPage;
  private readonly dom: JSDOM;
  private session: DdpSession | undefined;
  private closeSocket: (() => void) | undefined;

  static async open(options: MeteorBrowserOptions = {}): Promise<MeteorBrowser> {
    script ??= compilePage();
    return new MeteorBrowser(await script, options);
  }

  private constructor(compiled: Script, { token }: MeteorBrowserOptions) {
    const virtualConsole = new VirtualConsole();
    virtualConsole.on('jsdomError', (error) => this.errors.push(error));
    for (const level of ['error', 'warn'] as const)
      virtualConsole.on(level, (...args: unknown[]) => {
        // jsdom does not implement <search>, which browsers have.
        if (args[1] !== 'search') this.errors.push(args);
      });
    this.dom = new JSDOM('<!doctype html><html><body></body></html>', {
      url: 'http://localhost:3000/',
      runScripts: 'outside-only',
      pretendToBeVisual: true,
      virtualConsole,
    });
    const { window } = this.dom;
    const openDdpSocket: OpenDdpSocket = (handlers) => this.connect(handlers);
    Object.assign(window, {
      openDdpSocket,
      TextEncoder,
      matchMedia: () => ({ matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }),
    });
    Object.defineProperty(window, 'crypto', { value: webcrypto });
    // What jsdom does not implement.
    window.Element.prototype.scrollIntoView = () => undefined;
    const dialogs = window.HTMLDialogElement.prototype;
    dialogs.showModal = function show() {
      this.open = true;
    };
    dialogs.close = function close() {
      this.open = false;
    };
    if (token !== undefined) {
      window.localStorage.setItem('Meteor.loginToken', token.token);
      window.localStorage.setItem('Meteor.userId', token.userId);
    }
    compiled.runInContext(this.dom.getInternalVMContext());
    this.page = (window as unknown as { readonly page: TestPage }).page;
  }

  get text(): string {
    return this.dom.window.document.body.textContent;
  }

  /** The subscriptions that are open, each as JSON of its name and argument. */
  get subscriptions(): readonly string[] {
    const ended = new Set(this.sent.flatMap(({ msg, id }) => (msg === 'unsub' ? [id] : [])));
    return this.sent.flatMap(({ msg, id, name, params }) =>
      msg === 'sub' && !ended.has(id) ? [JSON.stringify([name, ...(params as readonly unknown[])])] : [],
    );
  }

  find(selector: string): HTMLElement | null {
    return this.dom.window.document.querySelector<HTMLElement>(selector);
  }

  /** The value as the page's own scripts create it: another realm's objects are instances of other classes. */
  own<T>(value: T): T {
    return this.dom.window.JSON.parse(JSON.stringify(value)) as T;
  }

  /** The focused element. */
  get focused(): Element | null {
    return this.dom.window.document.activeElement;
  }

  /** Behind an open dialog, nothing can be used. */
  private get reachable(): ParentNode {
    return this.find('dialog') ?? this.dom.window.document;
  }

  button(name: string): HTMLButtonElement {
    const buttons = [...this.reachable.querySelectorAll('button')];
    const found = buttons.find((button) => (button.getAttribute('aria-label') ?? button.textContent.trim()) === name);
    if (found === undefined) throw new Error(`There is no button "${name}" on the page: ${this.text}`);
    return found;
  }

  /** The control with this label. */
  field(label: string): string {
    const labels = this.reachable.querySelectorAll('label');
    const found = [...labels].find(({ textContent }) => textContent === label)?.htmlFor;
    if (found === undefined) throw new Error(`There is no field "${label}" on the page: ${this.text}`);
    return `[id="${found}"]`;
  }

  /** Types as a user does, so that React notices. */
  type(selector: string, value: string): void {
    const input = this.find(selector);
    if (input === null) throw new Error(`There is no ${selector} on the page: ${this.text}`);
    const prototype: unknown = Object.getPrototypeOf(input);
    Object.getOwnPropertyDescriptor(prototype, 'value')?.set?.call(input, value);
    input.dispatchEvent(new this.dom.window.Event('input', { bubbles: true }));
  }

  go(path: string): void {
    this.dom.window.location.hash = `#/${path}`;
  }

  async waitFor(isTrue: () => boolean): Promise<void> {
    await until(isTrue).catch((error: unknown) => {
      throw new Error(`It did not appear. The page reads: ${this.text}`, { cause: error });
    });
  }

  waitForText(text: string): Promise<void> {
    return this.waitFor(() => this.text.includes(text));
  }

  /** Waits until the page has rendered everything that has changed so far. */
  async settle(): Promise<void> {
    // A flush of Tracker and a rendering of React take a turn of the event loop each.
    for (let turn = 0; turn < 3; turn++)
      await new Promise<void>((resolve) => this.dom.window.setTimeout(() => resolve(), 0));
  }

  async signIn(login: string, password: string): Promise<void> {
    await this.waitFor(() => this.find('.sign-in form') !== null);
    this.type('input[autocomplete="username"]', login);
    this.type('input[type="password"]', password);
    this.button('Sign in').click();
  }

  /** Drops the connection. The page reconnects by itself. */
  dropConnection(): void {
    this.session?.close();
    this.closeSocket?.();
  }

  close(): void {
    this.session?.close();
    this.session = undefined;
    this.dom.window.close();
  }

  private connect(handlers: Parameters<OpenDdpSocket>[0]): DdpSocket {
    // A message arrives in a later turn of the event loop and in order, as on a network.
    const session = new DdpSession({}, (message) => {
      const text = EJSON.stringify(message);
      setTimeout(() => {
        if (this.session === session) handlers.onMessage(text);
      }, 1);
    });
    this.session = session;
    this.closeSocket = () => handlers.onClose();
    return {
      send: (text) => {
        const message = EJSON.parse(text) as Fields;
        this.sent.push(message);
        const { msg, id, name, method, params } = message as Record<string, string> & { params: readonly unknown[] };
        if (msg === 'method') session.call(id ?? '', method ?? '', params);
        else if (msg === 'sub') session.subscribe(id ?? '', name ?? '', params);
        else if (msg === 'unsub') session.unsubscribe(id ?? '');
        else throw new Error(`The client sent an unknown message: ${text}`);
      },
      close: () => session.close(),
    };
  }
}
