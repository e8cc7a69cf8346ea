/** A server is killed in mid-answer: the chat's client resumes the answer from the next server, which completes it. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { UIMessage } from 'ai';
import { chatClient, textOf } from '../support/ChatClient';
import type { ChatClient } from '../support/ChatClient';

const ROOT = join(__dirname, '../..');
const TOKEN = 'a-token-for-the-chat-tests';

// Starts four servers.
describe('a chat whose server is killed', () => {
  const children: ChildProcess[] = [];
  let directory = '';
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bolide-chat-crash-'));
  });
  after(async () => {
    for (const child of children) child.kill('SIGKILL');
    await rm(directory, { recursive: true, force: true });
  });

  /** Starts the server of `npm start`. @returns its address, once it is ready */
  async function start(): Promise<{ readonly url: string; readonly kill: () => Promise<void> }> {
    const { PATH, HOME } = process.env;
    const child = spawn(process.execPath, ['scripts/run.cjs', 'server/bolide.ts'], {
      cwd: ROOT,
      env: {
        PATH,
        HOME,
        PORT: '0',
        DATA_DIR: directory,
        BOLIDE_API_TOKEN: TOKEN,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    const url = await new Promise<string>((resolve, reject) => {
      let output = '';
      child.once('exit', () => reject(new Error(`The server ended: ${output}`)));
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        output += text;
        const found = /ready at (http:\/\/\S+)/.exec(output)?.[1];
        if (found !== undefined) resolve(found.replace(/[/.,]+$/, ''));
      });
    });
    return {
      url,
      kill: async () => {
        const exited = once(child, 'exit');
        child.kill('SIGKILL');
        await exited;
      },
    };
  }

  async function messagesAt(url: string, id: string): Promise<UIMessage[]> {
    const response = await fetch(`${url}/chat/${id}`, { headers: { authorization: `Bearer ${TOKEN}` } });
    return ((await response.json()) as { readonly messages: UIMessage[] }).messages;
  }

  function shows({ chat }: ChatClient, text: string): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (textOf(chat.messages.at(-1)).includes(text)) resolve();
      };
      chat['~registerMessagesCallback'](check);
      check();
    });
  }

  it('goes on with the answer, once', async () => {
    const first = await start();
    const before = chatClient({ url: first.url, token: TOKEN }, { id: 'c' });
    const words = Array.from({ length: 200 }, (_, index) => `word${index}`).join(' ');
    const sent = before.chat.sendMessage({ text: `Repeat: ${words}` });
    await shows(before, 'This is a simulated');
    await first.kill();
    await sent;
    expect(before.chat.status).to.equal('error');

    const second = await start();
    const messages = await messagesAt(second.url, 'c');
    const after = chatClient({ url: second.url, token: TOKEN }, { id: 'c', messages });
    await after.chat.resumeStream();
    expect(after.errors).to.deep.equal([]);
    expect(after.chat.messages).to.have.length(2);
    const answer = textOf(after.chat.messages.at(-1));
    expect(answer.match(/This is a simulated response/g)).to.have.length(1);
    expect(answer).to.match(/needed for that\.$/);
    expect(after.chat.messages.at(-1)?.id).to.equal(before.chat.messages.at(-1)?.id);
    expect(textOf((await messagesAt(second.url, 'c')).at(-1))).to.equal(answer);
    await second.kill();
  });

  it('keeps an approval that was asked for before', async () => {
    const first = await start();
    const before = chatClient({ url: first.url, token: TOKEN }, { id: 'a' });
    await before.chat.sendMessage({ text: 'Send a reminder with the text "tea"' });
    await first.kill();
    const second = await start();
    const after = chatClient(
      { url: second.url, token: TOKEN },
      { id: 'a', messages: await messagesAt(second.url, 'a') },
    );
    await after.chat.resumeStream();
    const part = after.chat.messages.at(-1)?.parts.find(({ type }) => type === 'tool-send_reminder') as {
      readonly approval: { readonly id: string };
    };
    expect(part).to.include({ state: 'approval-requested' });
    await after.chat.addToolApprovalResponse({ id: part.approval.id, approved: true });
    await after.chat.sendMessage();
    expect(after.errors).to.deep.equal([]);
    expect(textOf(after.chat.messages.at(-1))).to.contain('send_reminder returned');
    await second.kill();
  });
});
