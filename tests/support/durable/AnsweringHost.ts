/** Starts processes of `answeringProcess`, from one bundle per test run, and speaks with them. */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createParser } from 'eventsource-parser';
import type { EventSourceMessage } from 'eventsource-parser';
import { bundleChild } from '../bundleChild';
import type { AnsweringHostOptions } from './answeringProcess';

let bundle: Promise<string> | undefined;

export class AnsweringHost {
  readonly url: string;
  /** Where it stopped, in order. */
  readonly halted: string[] = [];
  private readonly child: ChildProcess;
  private readonly exited: Promise<unknown>;
  private wake = (): void => undefined;

  private constructor(child: ChildProcess, url: string) {
    this.child = child;
    this.url = url;
    this.exited = once(child, 'exit');
    child.on('message', ({ halted }: { readonly halted: string }) => {
      this.halted.push(halted);
      this.wake();
    });
  }

  static async start(options: AnsweringHostOptions): Promise<AnsweringHost> {
    bundle ??= bundleChild(join(__dirname, 'answeringProcess.ts'));
    const child = fork(await bundle, [JSON.stringify(options)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const [{ url }] = (await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(() => Promise.reject(new Error('The host has ended.'))),
    ])) as [{ readonly url: string }];
    return new AnsweringHost(child, url);
  }

  /** Resolves when it has stopped at so many moments. */
  async halts(count: number): Promise<void> {
    while (this.halted.length < count) await new Promise<void>((resolve) => (this.wake = resolve));
  }

  /** Safe to call again. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exited;
  }

  /** Ends it in an orderly way. */
  async close(): Promise<void> {
    this.child.send('close');
    await this.exited;
  }

  async request<T>(path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST'): Promise<T> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.status}: ${text}`);
    // Boundary: the host's own format.
    return JSON.parse(text) as T;
  }

  /** Reads server-sent events until they are as expected, or to the end. @returns all of them */
  async read(
    path: string,
    isComplete: (events: readonly EventSourceMessage[]) => boolean = () => false,
  ): Promise<readonly EventSourceMessage[]> {
    return readEvents(await fetch(`${this.url}${path}`), isComplete);
  }
}

/** Reads server-sent events until they are as expected, then leaves; or to the end, however it comes. */
export async function readEvents(
  response: Response,
  isComplete: (events: readonly EventSourceMessage[]) => boolean,
): Promise<readonly EventSourceMessage[]> {
  const events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => events.push(event) });
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    // Leaving the loop cancels the request.
    if (isComplete(events)) break;
  }
  return events;
}

/** The texts between end markers. What precedes a `restarted` event is void. */
export function textsOf(events: readonly EventSourceMessage[]): readonly string[] {
  const texts = [''];
  for (const { data, event } of events) {
    if (data === '[DONE]') texts.push('');
    else if (event === 'restarted') texts[texts.length - 1] = '';
    else texts[texts.length - 1] = (texts.at(-1) ?? '') + data;
  }
  return texts.slice(0, -1);
}
