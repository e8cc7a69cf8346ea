/** `ai.runs.export` */
import * as v from 'valibot';
import { defineOperation } from '../../../../host/defineOperation';
import { identifier, object } from '../../../../host/schemas';
import type { RunExport } from '../../domain/types/RunExport';
import { ARGUMENT_LIMITS } from './readArguments';
import type { RunExporter } from './RunExporter';

export interface RunExportServices {
  readonly runExporter: RunExporter;
}

const anyObject = v.looseObject({});

export const RUN_EXPORT_OPERATIONS = [
  defineOperation({
    name: 'ai.runs.export',
    summary: 'Everything that is stored of a run',
    description:
      'Its settings, input, conversation, tool calls with complete arguments and results, and the log of its model ' +
      'calls. Credentials are masked. Over HTTP, it is a file.',
    access: 'read',
    argument: object({ executionId: identifier(ARGUMENT_LIMITS.id) }),
    result: v.looseObject({
      format: v.literal('bolide.run'),
      version: v.literal(1),
      exportedAt: v.number(),
      run: v.looseObject({ executionId: v.string() }),
      plan: anyObject,
      input: v.array(anyObject),
      transcript: v.array(anyObject),
      calls: v.array(anyObject),
      requests: v.array(anyObject),
    }),
    http: {
      address: 'GET /api/runs/:executionId/export',
      fileName: ({ run }: RunExport) => `run-${run.executionId.replace(/[^\w-]/g, '_')}.json`,
    },
    reads: ['runs', 'calls'],
    execute: ({ runExporter }: RunExportServices, { actor, argument }) =>
      runExporter.export(actor, argument.executionId),
  }),
] as const;
