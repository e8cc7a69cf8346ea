/**
 * Exposes a Meteor app's own method as a tool, and runs a model from a server job on behalf of a user. In an app, this
 * is `server/orders.ts`, imported by `server/main.ts`.
 */
import { Accounts } from 'meteor/accounts-base';
import { check, Match } from 'meteor/check';
import { DDP } from 'meteor/ddp';
import { DDPRateLimiter } from 'meteor/ddp-rate-limiter';
import { Meteor } from 'meteor/meteor';
import { Mongo } from 'meteor/mongo';
import { WebApp } from 'meteor/webapp';
import { MethodTools } from '../../imports/business/ai/infrastructure/tools/MethodTools';
import { startBolide } from '../../imports/host/meteor/startBolide';
import type { MeteorHost } from '../../imports/host/meteor/startBolide';

/** An ordinary method: it validates its argument and checks who calls it, with or without models. */
export function defineOrders(findOrder: (userId: string, number: string) => Promise<object | undefined>): void {
  Meteor.methods({
    async 'orders.lookup'(this: { readonly userId: string | null }, number: unknown): Promise<object> {
      check(number, String);
      if (this.userId === null) throw new Meteor.Error('not-logged-in', 'Log in to see your orders.');
      const order = await findOrder(this.userId, number);
      if (order === undefined) throw new Meteor.Error('no-such-order', `You have no order ${number}.`);
      return order;
    },
  });
}

/** Exposes the tools before the server starts, so that runs that continue after a restart find them. */
export async function startWithOrders(): Promise<MeteorHost> {
  const lookup = new MethodTools({ Meteor, DDP }).expose('orders.lookup', {
    description: 'Looks up one order of the user by its number.',
    parameters: {
      type: 'object',
      properties: { number: { type: 'string' } },
      required: ['number'],
      additionalProperties: false,
    },
    toArguments: ({ number }: { number: string }) => [number],
    idempotent: true,
  });
  return startBolide({ Meteor, Mongo, WebApp, Accounts, DDPRateLimiter, check, Match, tools: [lookup] });
}

/**
 * A job names the user it works for; `Meteor.call` on the server would have none. Because of the request id, a second
 * attempt on the same day returns the same run.
 */
export async function summariseOrder(
  { module }: Pick<MeteorHost, 'module'>,
  work: { readonly userId: string; readonly providerId: string; readonly number: string; readonly day: string },
): Promise<string> {
  const { userId, providerId, number, day } = work;
  const response = await module.useCases.agenticExecution.execute(
    { userId, source: 'job' },
    {
      requestId: `order-summary:${number}:${day}`,
      providerId,
      input: `Summarise the order ${number} in one sentence.`,
      tools: ['orders_lookup'],
    },
  );
  return response.output
    .flatMap((item) => (item.type === 'message' ? item.content : []))
    .map((part) => (part.type === 'output_text' ? part.text : ''))
    .join('');
}
