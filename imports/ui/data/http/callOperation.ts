/** Carries out an operation by its route. */
import { OPERATION_TABLE } from '../operationTable';
import type { ArgumentOf, OperationName, ResultOf } from '../operations';
import type { HttpConnection } from './HttpConnection';
import { operationRequest } from './operationRequest';

/** @throws DashboardError */
export async function callOperation<N extends OperationName>(
  connection: HttpConnection,
  name: N,
  argument: ArgumentOf<N>,
): Promise<ResultOf<N>> {
  const entry = OPERATION_TABLE[name];
  const { method, path, body } = operationRequest(entry, argument);
  const response = await connection.request<unknown>(method, path, body);
  const { field } = entry;
  // The contract of the server's own routes types their responses.
  return (field === undefined ? response : (response as Readonly<Record<string, unknown>>)[field]) as ResultOf<N>;
}
