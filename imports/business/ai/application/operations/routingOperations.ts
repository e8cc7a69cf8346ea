/** `ai.routing.*` */
import * as v from 'valibot';
import { defineOperation } from '../../../../host/defineOperation';
import { object, time } from '../../../../host/schemas';
import { ROUTING_STRATEGIES } from '../../domain/entities/RoutingRule';
import type { RoutingAdministration } from './RoutingAdministration';
import { ruleFields, ruleName } from './routingRuleSchema';

export interface RoutingServices {
  readonly routing: RoutingAdministration;
}

const milliseconds = v.optional(v.number());
const rule = v.looseObject({
  name: v.string(),
  description: v.optional(v.string()),
  targets: v.array(
    v.looseObject({
      model: v.string(),
      weight: v.optional(v.number()),
      problem: v.optional(v.string()),
      circuit: v.optional(v.picklist(['closed', 'open', 'probing'])),
      isPaused: v.boolean(),
      firstToken: milliseconds,
      complete: milliseconds,
    }),
  ),
  strategy: v.picklist(ROUTING_STRATEGIES),
  timeout: milliseconds,
  firstTokenTimeout: milliseconds,
  maxRetries: v.optional(v.number()),
  defaults: v.optional(v.looseObject({})),
  enabled: v.boolean(),
  source: v.picklist(['settings', 'dashboard']),
  isOverride: v.boolean(),
  changedAt: v.optional(time),
  changedBy: v.optional(v.string()),
});

export const ROUTING_OPERATIONS = [
  defineOperation({
    name: 'ai.routing.list',
    summary: 'List the routing rules',
    description:
      'Each has its source, and for each target its `problem`, its `circuit`, whether it is paused, and its latencies, ' +
      'as far as this process knows them.',
    access: 'admin',
    argument: object({}),
    result: v.looseObject({ rules: v.array(rule) }),
    http: 'GET /api/routing',
    reads: ['routing', 'providers', 'runs'],
    execute: async ({ routing }: RoutingServices) => ({ rules: await routing.list() }),
  }),
  defineOperation({
    name: 'ai.routing.save',
    summary: 'Save a routing rule',
    description: 'It replaces the one of that name. Times are in milliseconds.',
    access: 'admin',
    argument: object({ name: ruleName, ...ruleFields }),
    example: { name: 'fast', targets: ['groq', 'openai/gpt-5.4'] },
    result: rule,
    http: 'POST /api/routing/:name',
    changes: ['routing'],
    audit: { action: 'routing.save', kind: 'routing_rule', id: 'name', details: ['targets'] },
    execute: ({ routing }: RoutingServices, { actor, argument }) => routing.save(argument, actor),
  }),
  defineOperation({
    name: 'ai.routing.remove',
    summary: 'Remove a routing rule',
    description: 'A rule of the settings applies again.',
    access: 'admin',
    argument: object({ name: ruleName }),
    result: v.looseObject({ removed: v.boolean() }),
    http: 'DELETE /api/routing/:name',
    changes: ['routing'],
    audit: { action: 'routing.remove', kind: 'routing_rule', id: 'name' },
    execute: async ({ routing }: RoutingServices, { actor, argument }) => ({
      removed: await routing.remove(argument.name, actor),
    }),
  }),
] as const;
