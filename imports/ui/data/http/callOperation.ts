/** Carries out an operation by its route. */
import { OPERATION_TABLE } from '../operationTable';
import type { ArgumentOf, OperationName, ResultOf } from '../operations';
import type { OperationEntry } from '../OperationEntry';
import type { HttpConnection } from './HttpConnection';
import { operationRequest } from './operationRequest';
import type { OperationRequest } from './operationRequest';
import { OPERATION_ROUTES } from './operationRoutes';
import type { OperationRoute } from './operationRoutes';

/** @throws DashboardError */
export async function callOperation<N extends OperationName>(
  connection: HttpConnection,
  name: N,
  argument: ArgumentOf<N>,
): Promise<ResultOf<N>> {
  const { field, method, path, body } = requestOf(name, argument);
  const response = await connection.request<unknown>(method, path, body);
  // The contract of the server's own routes types their responses.
  return (field === undefined ? response : (response as Readonly<Record<string, unknown>>)[field]) as ResultOf<N>;
}

function requestOf(name: string, argument: object): OperationRequest & { readonly field?: string | undefined } {
  const entry = (OPERATION_TABLE as Readonly<Record<string, OperationEntry | undefined>>)[name];
  if (entry !== undefined) return { ...operationRequest(entry, argument), field: entry.field };
  const { request, field } = (OPERATION_ROUTES as Readonly<Record<string, unknown>>)[name] as OperationRoute<never>;
  return { ...request(argument as never), field };
}
