/**
 * A Meteor app's own method, made a tool; and a job of the server that asks a model as somebody. In an app:
 * `server/orders.ts`, imported by `server/main.ts`.
 */
import { check } from 'meteor/check';
import { Meteor } from 'meteor/meteor';
import { MethodTools } from '../../imports/business/ai/infrastructure/tools/MethodTools';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { startMeteorServer } from '../../imports/startup/meteor/startMeteorServer';
import type { MeteorHost } from '../../imports/startup/meteor/startMeteorServer';

/** The method is as it was before there were models: it checks what it is given, and whose call it is. */
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

/** Tools are exposed before the server starts, so that runs that go on after a restart find theirs. */
export async function startWithOrders(): Promise<MeteorHost> {
  const tools = new ToolRegistry();
  new MethodTools(tools).expose('orders.lookup', {
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
  return startMeteorServer({ tools });
}

/**
 * A job knows for whom it works and says so; `Meteor.call` would ask as nobody. The request id makes a second
 * attempt on the same day the same run.
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
