/**
 * A chat endpoint: messages in at POST /input, answers out at GET /output/stream, token by token. Talks to itself once and ends; with
 * --serve it stays for you and curl.
 *
 * npx tsx examples/chat.ts [--serve]
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createParser } from 'eventsource-parser';
import express from 'express';
import { createHttpApi } from '../imports/api/createHttpApi';
import { moduleFromEnvironment, SIMULATION_NOTICE } from '../server/moduleFromEnvironment';

const TOKEN = 'for-this-example-only';
const HEADERS = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };

async function main(): Promise<void> {
  const { module, simulator } = await moduleFromEnvironment({ SYSTEM_PROMPT: 'You are a friendly guide. Be brief.', ...process.env });
  if (simulator !== undefined) console.error(SIMULATION_NOTICE);
  const api = createHttpApi(module, {
    express,
    authenticate: ({ headers }) => (headers.authorization === HEADERS.authorization ? { userId: 'visitor' } : undefined),
  });
  const server = createServer(express().use(api.router));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  if (process.argv.includes('--serve')) {
    console.log(`curl -N '${url}/output/stream?conversation=mine' -H 'authorization: Bearer ${TOKEN}'`);
    console.log(`curl ${url}/input -H 'authorization: Bearer ${TOKEN}' -H 'content-type: application/json' -d '{ "conversation": "mine", "message": "Hello" }'`);
    return;
  }
  try {
    for (const message of ['What is the weather in Lisbon?', 'Thank you. And the time?']) {
      console.log(`> ${message}`);
      await fetch(`${url}/input`, { method: 'POST', headers: HEADERS, body: JSON.stringify({ conversation: 'example', message }) });
      await showAnswer(url);
    }
  } finally {
    server.closeAllConnections();
    server.close();
    await simulator?.close();
  }
}

/** Writes the answer as it comes, and returns at its end. */
async function showAnswer(url: string): Promise<void> {
  const controller = new AbortController();
  const response = await fetch(`${url}/output/stream?conversation=example`, { headers: HEADERS, signal: controller.signal });
  const parser = createParser({
    onEvent: ({ data }) => {
      const isEnd = data === '[DONE]' || data.startsWith('ERROR: ');
      process.stdout.write(data === '[DONE]' ? '\n' : data);
      if (isEnd) controller.abort();
    },
  });
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response.body ?? []) parser.feed(decoder.decode(chunk, { stream: true }));
  } catch (error) {
    if (!controller.signal.aborted) throw error;
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
