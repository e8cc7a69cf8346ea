/**
 * A Meteor app on the stubs in a process of its own, for signals. Arguments: its vendor's base URL, and a mode:
 * `patient` waits long for what is in progress, `production` does so outside of development, `listening` has its own
 * handler of SIGTERM, which exits with 7 after a message, `simulated` has no vendor. The message `call` lets a DDP
 * client call a method. Prints its state when it exits.
 */
import { writeSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { Accounts } from 'meteor/accounts-base';
import { Meteor } from 'meteor/meteor';
import { WebApp } from 'meteor/webapp';
import { UNOWNED } from '../../imports/business/ai/domain/entities/Run';
import { startBolide } from '../../imports/host/meteor/startBolide';
import { DdpClient } from '../stubs/server/DdpClient';
import { registry } from '../stubs/server/registry';
import { newKey } from './oauth/ProvidersHost';
import { METEOR_PACKAGES } from '../meteor/meteorPackages';

/** Milliseconds. */
const GRACE = 500;

export interface ChildReady {
  readonly url: string;
}

export interface ChildResult {
  readonly result: unknown;
}

/** The state at the exit. */
export interface ChildExit {
  /** Owners whose runs no other process may take over yet. */
  readonly owners: number;
  /** The states of all runs. */
  readonly runs: readonly unknown[];
  readonly isClientConnected: boolean;
  /** The messages that answer the client's calls. */
  readonly results: readonly unknown[];
}

async function main(): Promise<void> {
  const [vendorURL, mode] = process.argv.slice(2);
  Object.assign(Meteor, { isDevelopment: mode !== 'production' });
  await Meteor.users.insertAsync({
    _id: 'ann',
    services: { resume: { loginTokens: [{ hashedToken: Accounts._hashLoginToken('ann-token'), when: new Date() }] } },
  });
  const host = await startBolide({
    ...METEOR_PACKAGES,
    settings: {
      secrets: newKey('k1'),
      admins: ['ann'],
      ...(mode === 'simulated' ? {} : { OPENAI_API_KEY: 'k', OPENAI_API_BASE: vendorURL }),
    },
    shutdownGraceMs: mode === 'patient' || mode === 'production' ? 60_000 : GRACE,
  });
  const client = new DdpClient({ userId: 'ann' });
  let isClientConnected = true;
  client.connection.onClose(() => (isClientConnected = false));
  if (mode === 'listening')
    process.on('SIGTERM', () => process.once('message', () => void host.close().then(() => process.exit(7))));
  process.on('message', (message) => {
    // The test decides whether the vendor answers.
    if (message === 'call')
      void client.callAsync('ai.llm.generateText', { requestId: 'r1', providerId: 'openai', input: 'Hello' }).then(
        (result) => process.send?.({ result } satisfies ChildResult),
        () => undefined,
      );
  });
  process.on('exit', () => {
    const state: ChildExit = {
      owners: registry.collections.get('ai_run_owners')?.select({ _id: { $ne: UNOWNED } }).length ?? 0,
      runs:
        registry.collections
          .get('ai_runs')
          ?.select({})
          .map(({ state }) => state) ?? [],
      isClientConnected,
      results: client.messages.filter(({ msg }) => msg === 'result'),
    };
    writeSync(1, `${JSON.stringify(state)}\n`);
  });
  WebApp.httpServer.listen(0, '127.0.0.1', () => {
    const { port } = WebApp.httpServer.address() as AddressInfo;
    process.send?.({ url: `http://127.0.0.1:${port}` } satisfies ChildReady);
  });
}

void main();
