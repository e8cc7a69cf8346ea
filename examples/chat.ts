/**
 * A chat server: POST /api/input takes messages, GET /api/output/stream streams the responses token by token. The
 * example sends two messages itself, disconnects in the middle of the second response, resumes it, and exits. With
 * --serve, it keeps running for your own requests.
 *
 * npm run example:chat -- [--serve]        PORT sets the port; default: any free one
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createParser } from 'eventsource-parser';
import express from 'express';
import { createHttpApi } from '../imports/api/createHttpApi';
import { moduleFromEnvironment } from '../imports/host/moduleFromEnvironment';
import { SIMULATION_NOTICE } from '../imports/host/simulation';

const TOKEN = 'for-this-example-only';
const HEADERS = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };

async function main(): Promise<void> {
  const { module, simulator } = await moduleFromEnvironment({
    SYSTEM_PROMPT: 'You are a friendly guide. Be brief.',
    ...process.env,
  });
  if (simulator !== undefined) console.error(SIMULATION_NOTICE);
  const api = createHttpApi(module, {
    authenticate: ({ headers }) =>
      headers.authorization === HEADERS.authorization ? { userId: 'visitor' } : undefined,
  });
  // Longer than clients and load balancers keep an idle connection, so that none of them writes to a closed one.
  const server = createServer({ keepAliveTimeout: 65_000 }, express().use(api.router));
  server.listen(Number(process.env.PORT ?? 0), '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  if (process.argv.includes('--serve')) {
    printInstructions(url);
    return;
  }
  try {
    await sendMessage(url, 'What is the weather in Lisbon?');
    await printResponse(url);
    await sendMessage(url, 'Thank you. And the time?');
    const lastEventId = await printResponse(url, { maxEvents: 3 });
    console.log(`\n(disconnected after event ${lastEventId}; resuming with Last-Event-ID)`);
    await printResponse(url, { lastEventId });
  } finally {
    server.closeAllConnections();
    server.close();
    await simulator?.close();
  }
}

function printInstructions(url: string): void {
  console.log(`Receive responses in one terminal. Add -H 'Last-Event-ID: …' with the last id you received to resume:
  curl -N '${url}/api/output/stream?conversation=mine' -H 'authorization: Bearer ${TOKEN}'
Send messages in another:
  curl ${url}/api/input -H 'authorization: Bearer ${TOKEN}' -H 'content-type: application/json' -d '{ "conversation": "mine", "message": "What is the weather in Lisbon?" }'`);
}

async function sendMessage(url: string, message: string): Promise<void> {
  console.log(`> ${message}`);
  const response = await fetch(`${url}/api/input`, {
    method: 'POST',
    headers: HEADERS,
    body: JSON.stringify({ conversation: 'example', message }),
  });
  if (!response.ok) throw new Error(await response.text());
}

interface StreamOptions {
  /** Resumes after this event. */
  readonly lastEventId?: string;
  /** Disconnects after this many events. Default: when the response ends. */
  readonly maxEvents?: number;
}

/** Prints a response as it arrives. @returns the id of the last event received */
async function printResponse(url: string, { lastEventId, maxEvents = Infinity }: StreamOptions = {}): Promise<string> {
  const controller = new AbortController();
  let lastId = lastEventId ?? '';
  let count = 0;
  const parser = createParser({
    onEvent: ({ id, data }) => {
      if (controller.signal.aborted) return;
      lastId = id ?? lastId;
      count += 1;
      const isEnd = data === '[DONE]' || data.startsWith('ERROR: ');
      process.stdout.write(data === '[DONE]' ? '\n' : data);
      if (isEnd || count >= maxEvents) controller.abort();
    },
  });
  const response = await fetch(`${url}/api/output/stream?conversation=example`, {
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
