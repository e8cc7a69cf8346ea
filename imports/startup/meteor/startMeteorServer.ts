/** The Meteor host: the HTTP API on WebApp's Express, for people who are logged in. */
import type { IncomingMessage } from 'node:http';
import express from 'express';
import { Accounts } from 'meteor/accounts-base';
import { Meteor } from 'meteor/meteor';
import { WebApp } from 'meteor/webapp';
import { createHttpApi } from '../../api/createHttpApi';
import type { HttpApi } from '../../api/createHttpApi';
import { createAIModule } from '../../business/ai/infrastructure/factories/createAIModule';
import type { AIModule } from '../../business/ai/infrastructure/factories/createAIModule';
import type { Actor } from '../../api/auth/Actor';
import { settingsFromMeteor } from '../settingsFromEnvironment';

export interface MeteorHost {
  readonly module: AIModule;
  readonly api: HttpApi;
}

/**
 * `Meteor.settings.ai` has the same keys as the environment, and comes first.
 * @throws LLMInvalidRequestError that names everything that is wrong with them
 */
export function startMeteorServer(): MeteorHost {
  const module = createAIModule(settingsFromMeteor(Meteor.settings['ai'], process.env));
  const api = createHttpApi(module, { express, authenticate: actorOf });
  WebApp.handlers.use(api.router);
  WebApp.httpServer.on('upgrade', (request, socket, head) => {
    // DDP owns every socket that is not the API's.
    api.handleUpgrade(request, socket, head);
  });
  return { module, api };
}

/** A Meteor login token, as the client keeps it in `Meteor.loginToken`, stands for its user until it expires. */
async function actorOf(request: IncomingMessage): Promise<Actor | undefined> {
  const token = /^Bearer\s+(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  if (token === undefined) return undefined;
  const hashedToken = Accounts._hashLoginToken(token);
  const user = await Meteor.users.findOneAsync({ 'services.resume.loginTokens.hashedToken': hashedToken }, { fields: { 'services.resume.loginTokens': 1 } });
  const login = (user?.services as LoginServices | undefined)?.resume?.loginTokens?.find((one) => one.hashedToken === hashedToken);
  if (user === undefined || login === undefined || Accounts._tokenExpiration(login.when) < new Date()) return undefined;
  return { userId: user._id };
}

/** What accounts-base keeps of logins; its types leave `services` open. */
interface LoginServices {
  readonly resume?: { readonly loginTokens?: readonly { readonly hashedToken: string; readonly when: Date }[] };
}
