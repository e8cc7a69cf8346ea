/** A data directory and the server of `npm start` on it, from the first run that is stored to the end of the server. */
import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { expect } from 'chai';
import Groq from 'groq-sdk';
import OpenAI from 'openai';
import { runCommand, userEnvironment } from '../support/runCommand';

const ROOT = join(__dirname, '../..');
const TOKEN = 'a-token-for-the-smoke-tests';

describe('a data directory and its server', () => {
  let directory: string;
  let server: ChildProcess;
  /** The output of the server's process and of those that it started has ended. */
  let closed: Promise<unknown>;
  let output = '';
  let url = '';

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bolide-smoke-'));
  });
  after(async () => {
    const group = server.pid ?? 0;
    // Each thread with what it waits for: a main thread that does not wait for events can hear no signal.
    const { stdout } = await promisify(execFile)('ps', ['-eLo', 'pgid,pid,lwp,stat,time,wchan:24,comm,args']);
    const left = stdout.split('\n').filter((line) => Number.parseInt(line, 10) === group);
    if (left.length > 0) console.log(`Has not ended:\n${left.join('\n')}\n${output}`);
    try {
      process.kill(-group, 'SIGKILL');
    } catch {
      // The group has ended, as it should.
    }
    await rm(directory, { recursive: true });
  });

  it('is filled by `npm run seed`, and checked by `npm run data`', async () => {
    const env = { DATA_DIR: directory };
    expect((await runCommand('seed', ['--runs', '20', '--waiting', '2'], env)).stdout).to.include('Stored 20 runs');
    expect((await runCommand('data', ['check'], env)).stdout).to.include('nothing is damaged');
  });

  it('starts with `npm start`, which checks Node first', async () => {
    server = spawn('npm', ['start'], {
      cwd: ROOT,
      env: { ...userEnvironment(), PORT: '0', DATA_DIR: directory, BOLIDE_API_TOKEN: TOKEN },
      stdio: ['ignore', 'pipe', 'pipe'],
      // The server has a process group of its own, so that nothing of it outlives a test that fails.
      detached: true,
    });
    closed = once(server, 'close');
    const ready = new Promise<void>((resolve) => {
      for (const stream of [server.stdout, server.stderr])
        stream?.setEncoding('utf8').on('data', (text: string) => {
          output += text;
          url = /Bolide is ready at (\S+)/.exec(output)?.[1] ?? '';
          if (url !== '') resolve();
        });
    });
    await Promise.race([ready, closed]);
    expect(url, output).not.to.equal('');
  });

  it('streams a response to OpenAI’s SDK: Responses', async () => {
    const client = new OpenAI({ apiKey: TOKEN, baseURL: `${url}/v1`, maxRetries: 0 });
    const stream = client.responses.stream({ model: 'openai/gpt-5-mini', input: 'Hello?' });
    expect((await stream.finalResponse()).output_text).to.match(/simulated/i);
  });

  it('streams a response to OpenAI’s SDK: Chat Completions', async () => {
    const client = new OpenAI({ apiKey: TOKEN, baseURL: `${url}/v1`, maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'Hello?' }];
    const stream = client.chat.completions.stream({ model: 'grok/grok-4', messages });
    expect(await stream.finalContent()).to.match(/simulated/i);
  });

  it('streams a response to Anthropic’s SDK', async () => {
    const client = new Anthropic({ apiKey: TOKEN, authToken: null, baseURL: url, maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'Hello?' }];
    const stream = client.messages.stream({ model: 'anthropic/claude-sonnet-4-5', max_tokens: 1_000, messages });
    expect(await stream.finalText()).to.match(/simulated/i);
  });

  it('streams a response to Google’s SDK', async () => {
    const client = new GoogleGenAI({ apiKey: TOKEN, httpOptions: { baseUrl: url, retryOptions: { attempts: 1 } } });
    const stream = await client.models.generateContentStream({ model: 'google/gemini-2.5-flash', contents: 'Hello?' });
    let text = '';
    for await (const chunk of stream) text += chunk.text ?? '';
    expect(text).to.match(/simulated/i);
  });

  it('streams a response to Groq’s SDK', async () => {
    const client = new Groq({ apiKey: TOKEN, baseURL: `${url}/groq`, maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'Hello?' }];
    const stream = await client.chat.completions.create({ model: 'groq/openai/gpt-oss-120b', messages, stream: true });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    expect(text).to.match(/simulated/i);
  });

  it('shows its runs to `npm run runs`', async () => {
    const { stdout } = await runCommand('runs', ['list', '--limit', '5', '--json', '--url', url], {
      BOLIDE_API_TOKEN: TOKEN,
    });
    expect(JSON.parse(stdout)).not.to.be.empty;
  });

  it('ends when it is terminated', async () => {
    server.kill('SIGTERM');
    await closed;
  });
});
