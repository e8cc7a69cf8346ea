/**
 * A host in a process of its own, which stops at a given moment of an answer, so that it can be killed there. Argument:
 * AnsweringHostOptions as JSON.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import type { ConversationStore } from '../../../imports/business/ai/domain/interfaces/ConversationStore';
import type { ResponseStore } from '../../../imports/business/ai/domain/interfaces/ResponseStore';
import { openSqliteDatabase } from '../../../imports/database/sqlite/SqliteDatabase';
import { openMongoDatabase } from '../../../imports/database/mongo/MongoDatabase';
import {
  DocumentConversationStore,
  MESSAGES,
} from '../../../imports/business/ai/infrastructure/persistence/conversations/DocumentConversationStore';
import { openResponseStore } from '../../../imports/business/ai/infrastructure/persistence/responses/DocumentResponseStore';
import { createHost } from '../../../imports/host/createHost';

export interface AnsweringHostOptions {
  /** The directory of the embedded database, or the URL of a MongoDB. */
  readonly place: string;
  /** The base URL of the vendor. */
  readonly vendor: string;
  /** Milliseconds. */
  readonly lease: number;
  /** How late events of other processes may be. Milliseconds. */
  readonly lateness: number;
  /** This process stops at the moments that messages name: see `Moment`. */
  readonly halts: boolean;
}

/** A message that contains the word stops there. */
export type Moment = 'halt-before-call' | 'halt-before-storing' | 'halt-after-storing';

/** Tells the parent what it can kill the process in. */
function halt(moment: string): Promise<never> {
  process.send?.({ halted: moment });
  return new Promise(() => undefined);
}

function haltingMemory(memory: ConversationStore): ConversationStore {
  return {
    async storeInput(userId, conversationId, message) {
      const isAnswer = message.role === 'assistant';
      if (isAnswer && conversationId.includes('halt-before-storing')) await halt(conversationId);
      await memory.storeInput(userId, conversationId, message);
      if (!isAnswer && conversationId.includes('halt-before-call')) await halt(conversationId);
      if (isAnswer && conversationId.includes('halt-after-storing')) await halt(conversationId);
    },
    getHistory: (userId, conversationId) => memory.getHistory(userId, conversationId),
  };
}

function haltingResponses(responses: ResponseStore): ResponseStore {
  return new Proxy(responses, {
    get(target, name) {
      if (name === 'replace')
        return async (...[stored]: Parameters<ResponseStore['replace']>): Promise<boolean> => {
          const { status } = stored.response;
          const text = JSON.stringify(stored.input);
          if (text.includes('halt-before-call') && status === 'in_progress') await halt(text);
          if (text.includes('halt-before-storing') && status === 'completed') await halt(text);
          const isStored = await target.replace(stored);
          if (text.includes('halt-after-storing') && status === 'completed') await halt(text);
          return isStored;
        };
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

async function main({ place, vendor, lease, lateness, halts }: AnsweringHostOptions): Promise<void> {
  const database = place.startsWith('mongodb')
    ? await openMongoDatabase(place)
    : await openSqliteDatabase({ directory: place });
  const memory = new DocumentConversationStore(database.collection(MESSAGES));
  const responses = await openResponseStore(database);
  const host = await createHost(
    {
      ai: {
        providers: [
          { id: 'v', vendor: 'openai_compatible', baseURL: vendor, allowPrivateHosts: true, defaultModel: 'talker' },
        ],
      },
      access: 'everyone',
      secretKeys: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
      rootUrl: 'http://localhost',
      allowPrivateHosts: true,
      // Tests ask every few milliseconds until an answer has ended.
      userLimits: { requestsPerMinute: Infinity },
    },
    {
      database,
      authenticate: () => ({ userId: 'ann' }),
      relayTimes: { lateness },
      findUser: (userId) => Promise.resolve({ userId, isAdmin: false, source: 'http' }),
      ai: {
        leaseTimes: { lease, heartbeat: lease / 10 },
        ...(halts ? { memory: haltingMemory(memory), responses: haltingResponses(responses) } : {}),
      },
    },
  );
  const server = createServer(express().use(host.api.router)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // An orderly shutdown.
  process.once('message', () => void host.close().then(() => process.exit(0)));
  process.on('disconnect', () => process.exit(0));
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

// Node ends the process for an unhandled rejection, which the parent reports.
void main(JSON.parse(process.argv[2] ?? '{}') as AnsweringHostOptions);
