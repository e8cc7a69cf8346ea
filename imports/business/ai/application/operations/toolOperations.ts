/** `ai.tools.*` */
import * as v from 'valibot';
import { defineOperation } from '../../../../host/defineOperation';
import { object } from '../../../../host/schemas';
import type { RunQueries } from './RunQueries';

export interface ToolServices {
  readonly tools: Pick<RunQueries, 'tools'>;
}

export const TOOL_OPERATIONS = [
  defineOperation({
    name: 'ai.tools.list',
    summary: 'List the tools that the user may use',
    description: '`parameters` is the JSON Schema of the arguments, `counts` the number of calls in each state.',
    access: 'read',
    argument: object({}),
    result: v.array(
      v.looseObject({
        name: v.string(),
        description: v.string(),
        parameters: v.optional(v.looseObject({})),
        blocking: v.boolean(),
        needsApproval: v.boolean(),
        external: v.boolean(),
        counts: v.record(v.string(), v.number()),
      }),
    ),
    http: { address: 'GET /api/tools', field: 'tools' },
    reads: ['calls'],
    execute: ({ tools }: ToolServices, { actor }) => tools.tools(actor),
  }),
] as const;
