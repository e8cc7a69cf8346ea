/** Starts the Meteor host: methods, publications and the HTTP API for logged-in users, on the app's own database. */
import express from 'express';
import { Meteor } from 'meteor/meteor';
import { WebApp } from 'meteor/webapp';
import { MeteorDatabase } from '../../business/ai/infrastructure/persistence/databases/MeteorDatabase';
import { defineAIMethods } from '../../business/ai/methods';
import { definePublications } from '../../business/ai/publications';
import type { ToolRegistry } from '../../business/ai/infrastructure/tools/ToolRegistry';
import type { Actor } from '../../business/ai/domain/types/Actor';
import { COLLECTIONS } from '../../business/providers/infrastructure/factories/createProvidersModule';
import { defineProviderMethods } from '../../business/providers/methods';
import { defineProviderPublication } from '../../business/providers/publications';
import { createHost } from '../createHost';
import type { Host } from '../createHost';
import { settingsFromMeteor } from '../settings/vendors';
import { readMeteorHostSettings } from '../settings/meteor';
import { addDdpRateLimits } from './ddpRateLimits';
import { MeteorUsers } from './MeteorUsers';

export interface MeteorHost extends Host {
  readonly database: MeteorDatabase;
  readonly users: MeteorUsers;
}

export interface BolideOptions {
  /** All tools, including exposed methods. Runs from before a restart continue at once and need them. */
  readonly tools?: ToolRegistry;
}

/**
 * Reads `Meteor.settings.ai`, which has the same keys as the environment and takes precedence over it.
 * @throws LLMInvalidRequestError that lists every invalid setting, or for missing sealing keys
 */
export async function startBolide({ tools }: BolideOptions = {}): Promise<MeteorHost> {
  const given = Meteor.settings['ai'];
  const ai = settingsFromMeteor(given, process.env);
  const { admins, ...settings } = readMeteorHostSettings(given, process.env);
  const users = new MeteorUsers(admins);
  const database = new MeteorDatabase();
  const { authenticate, findUser } = users;
  const host = await createHost(
    { ai, ...settings, rootUrl: Meteor.absoluteUrl() },
    { express, database, authenticate, findUser, hasAccounts: true, ...(tools === undefined ? {} : { ai: { tools } }) },
  );
  defineMethodsAndPublications(host, database, findUser);
  WebApp.handlers.use(host.api.router);
  WebApp.httpServer.on('upgrade', (request, socket, head) => {
    // Other sockets belong to DDP.
    host.api.handleUpgrade(request, socket, head);
  });
  const observed = await observeOtherProcesses(database, () => host.providers.changes.notify());
  return {
    ...host,
    database,
    users,
    async close() {
      for (const { stop } of observed) stop();
      await host.close();
    },
  };
}

function defineMethodsAndPublications(
  { runs, providers }: Host,
  database: MeteorDatabase,
  findUser: MeteorUsers['findUser'],
): void {
  const actorOf = async (userId: string): Promise<Actor | undefined> => {
    const user = await findUser(userId);
    return user === undefined ? undefined : { ...user, source: 'method' };
  };
  const methods = { ...runs.methods, 'ai.tools.list': (actor: Actor) => runs.queries.tools(actor) };
  addDdpRateLimits({
    methods: [
      ...defineAIMethods({ methods, actorOf }),
      ...defineProviderMethods({ operations: providers.operations, actorOf }),
    ],
    publications: [
      ...definePublications({ database, actorOf, ownerOf: runs.ownerOf }),
      ...defineProviderPublication({
        actorOf,
        list: (actor) => providers.operations.list(actor),
        onChange: (listener) => providers.changes.subscribe(listener),
      }),
    ],
  });
}

/** Notifies of providers and credentials that another process of the app has changed. */
function observeOtherProcesses(
  database: MeteorDatabase,
  notify: () => void,
): Promise<readonly { readonly stop: () => void }[]> {
  const fields = { [COLLECTIONS.providers]: { updatedAt: 1 }, [COLLECTIONS.credentials]: { state: 1 } } as const;
  const observed = Object.entries(fields).map(([name, seen]) =>
    database
      .published(name)
      .find({}, { fields: seen })
      .observeChangesAsync({ added: notify, changed: notify, removed: notify }),
  );
  return Promise.all(observed);
}
