/** `GET /runs/:id/export`: a complete run as a file. */
import type { RunExportOperations } from '../../business/ai/application/operations/RunExportOperations';
import { toActor } from '../auth/ApiPrincipal';
import type { AddEndpoint } from '../http/Endpoint';

export function addExportRoutes(
  add: AddEndpoint,
  { 'ai.runs.export': exportRun }: Partial<RunExportOperations>,
): readonly string[] {
  if (exportRun === undefined) return [];
  add('app', '/runs/:id/export', '/runs/:id/export', {
    method: 'get',
    scope: 'read',
    handler: async ({ principal, request, response }) => {
      const exported = await exportRun(toActor(principal), { executionId: String(request.params['id']) });
      const name = `run-${exported.run.executionId.replace(/[^\w-]/g, '_')}.json`;
      response.set('content-disposition', `attachment; filename=${name}`).json(exported);
    },
  });
  return [];
}
