/** The Meteor host: the HTTP API on WebApp's Express, for people who are logged in, with everything kept in the app's own database. */
import express from 'express';
import { Meteor } from 'meteor/meteor';
import { WebApp } from 'meteor/webapp';
import { MeteorDatabase } from '../../business/ai/infrastructure/persistence/MeteorDatabase';
import { COLLECTIONS } from '../../business/providers/infrastructure/factories/createProvidersModule';
import { createHost } from '../createHost';
import type { Host } from '../createHost';
import { settingsFromMeteor } from '../settingsFromEnvironment';
import { readMeteorHostSettings } from './hostSettings';
import { MeteorUsers } from './MeteorUsers';

export interface MeteorHost extends Host {
  readonly database: MeteorDatabase;
  readonly users: MeteorUsers;
}

/**
 * `Meteor.settings.ai` has the same keys as the environment, and comes first.
 * @throws LLMInvalidRequestError that names everything that is wrong with them, and when there is no key to seal with
 */
export async function startMeteorServer(): Promise<MeteorHost> {
  const given = Meteor.settings['ai'];
  const ai = settingsFromMeteor(given, process.env);
  const { admins, ...settings } = readMeteorHostSettings(given, process.env);
  const users = new MeteorUsers(admins);
  const database = new MeteorDatabase();
  const host = await createHost({ ai, ...settings, rootUrl: Meteor.absoluteUrl() }, { express, database, authenticate: users.authenticate, callerOf: users.callerOf, hasAccounts: true });
  WebApp.handlers.use(host.api.router);
  WebApp.httpServer.on('upgrade', (request, socket, head) => {
    // DDP owns every socket that is not the API's.
    host.api.handleUpgrade(request, socket, head);
  });
  const observed = await tellOfOtherProcesses(database, () => host.providers.changes.notify());
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

/** Providers and connections that another process of the app changed look different to users of this one, too. */
function tellOfOtherProcesses(database: MeteorDatabase, notify: () => void): Promise<readonly { readonly stop: () => void }[]> {
  const fields = { [COLLECTIONS.providers]: { updatedAt: 1 }, [COLLECTIONS.credentials]: { state: 1 } } as const;
  const observed = Object.entries(fields).map(([name, seen]) =>
    database.published(name).find({}, { fields: seen }).observeChangesAsync({ added: notify, changed: notify, removed: notify }),
  );
  return Promise.all(observed);
}
