/** The AI SDK's own chat, as `useChat` uses it, against a server under test. */
import { Chat } from '@ai-sdk/react';
import { DefaultChatTransport } from 'ai';
import type { ChatInit, UIMessage } from 'ai';
import type { RunningServer } from '../../imports/host/node/startServer';

export interface ChatClientOptions extends Pick<
  ChatInit<UIMessage>,
  'sendAutomaticallyWhen' | 'transport' | 'messages' | 'experimental_queue'
> {
  readonly id?: string;
  readonly token?: string;
  readonly body?: object;
}

export interface ChatClient {
  readonly chat: Chat<UIMessage>;
  readonly errors: readonly Error[];
  /** Resolves when the chat is idle and the condition is met. */
  idle(condition?: () => boolean): Promise<void>;
}

export function chatClient(
  { url, token: ownToken }: Pick<RunningServer, 'url' | 'token'>,
  { token = ownToken, body, ...options }: ChatClientOptions = {},
): ChatClient {
  const errors: Error[] = [];
  const headers = { authorization: `Bearer ${token}` };
  const chat = new Chat<UIMessage>({
    transport: new DefaultChatTransport({ api: `${url}/api/chat`, headers, ...(body === undefined ? {} : { body }) }),
    onError: (error) => errors.push(error),
    ...options,
  });
  const isIdle = (): boolean => chat.status === 'ready' || chat.status === 'error';
  return {
    chat,
    errors,
    idle: (condition = () => true) =>
      new Promise((resolve) => {
        const unsubscribes: (() => void)[] = [];
        const check = (): void => {
          if (!isIdle() || !condition()) return;
          for (const unsubscribe of unsubscribes) unsubscribe();
          resolve();
        };
        unsubscribes.push(chat['~registerStatusCallback'](check), chat['~registerMessagesCallback'](check));
        check();
      }),
  };
}

export function textOf(message: UIMessage | undefined): string {
  return (message?.parts ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('');
}
