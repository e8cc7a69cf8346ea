/**
 * A chat endpoint: messages in at POST /input, answers out at GET /output/stream, token by token. Talks to itself
 * once, is cut off in the middle of an answer, comes back for the rest, and ends; with --serve it stays for you and
 * curl.
 *
 * npm run example:chat -- [--serve]        PORT says where, else any free port
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createParser } from 'eventsource-parser';
import express from 'express';
import { createHttpApi } from '../imports/api/createHttpApi';
import { moduleFromEnvironment, SIMULATION_NOTICE } from '../imports/startup/moduleFromEnvironment';

const TOKEN = 'for-this-example-only';
const HEADERS = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };

async function main(): Promise<void> {
  const { module, simulator } = await moduleFromEnvironment({
    SYSTEM_PROMPT: 'You are a friendly guide. Be brief.',
    ...process.env,
  });
  if (simulator !== undefined) console.error(SIMULATION_NOTICE);
  const api = createHttpApi(module, {
    express,
    authenticate: ({ headers }) =>
      headers.authorization === HEADERS.authorization ? { userId: 'visitor' } : undefined,
  });
  const server = createServer(express().use(api.router));
  server.listen(Number(process.env.PORT ?? 0), '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  if (process.argv.includes('--serve')) {
    explain(url);
    return;
  }
  try {
    await say(url, 'What is the weather in Lisbon?');
    await listen(url);
    await say(url, 'Thank you. And the time?');
    const lastEventId = await listen(url, { leaveAfter: 3 });
    console.log(`\n(cut off after event ${lastEventId}; back with Last-Event-ID)`);
    await listen(url, { lastEventId });
  } finally {
    server.closeAllConnections();
    server.close();
    await simulator?.close();
  }
}

function explain(url: string): void {
  console.log(`Listen, in one terminal; -H 'Last-Event-ID: …' with the last id that you saw brings what you missed:
  curl -N '${url}/output/stream?conversation=mine' -H 'authorization: Bearer ${TOKEN}'
Talk, in another:
  curl ${url}/input -H 'authorization: Bearer ${TOKEN}' -H 'content-type: application/json' -d '{ "conversation": "mine", "message": "What is the weather in Lisbon?" }'`);
}

async function say(url: string, message: string): Promise<void> {
  console.log(`> ${message}`);
  const response = await fetch(`${url}/input`, {
    method: 'POST',
    headers: HEADERS,
    body: JSON.stringify({ conversation: 'example', message }),
  });
  if (!response.ok) throw new Error(await response.text());
}

interface Listening {
  /** Where an earlier listening stopped. */
  readonly lastEventId?: string;
  /** How many pieces of the answer to hear; default: all. */
  readonly leaveAfter?: number;
}

/**
 * Writes the answer as it comes. @returns the id of the last event, once the answer has ended or enough of it was
 * heard
 */
async function listen(url: string, { lastEventId, leaveAfter = Infinity }: Listening = {}): Promise<string> {
  const controller = new AbortController();
  let lastId = lastEventId ?? '';
  let pieces = 0;
  const parser = createParser({
    onEvent: ({ id, data }) => {
      if (controller.signal.aborted) return;
      lastId = id ?? lastId;
      pieces += 1;
      const isEnd = data === '[DONE]' || data.startsWith('ERROR: ');
      process.stdout.write(data === '[DONE]' ? '\n' : data);
      if (isEnd || pieces >= leaveAfter) controller.abort();
    },
  });
  const response = await fetch(`${url}/output/stream?conversation=example`, {
    headers: { ...HEADERS, ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) },
    signal: controller.signal,
  });
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response.body ?? []) parser.feed(decoder.decode(chunk, { stream: true }));
  } catch (error) {
    if (!controller.signal.aborted) throw error;
  }
  return lastId;
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
