/** Carries out an operation by its route. */
import type { ArgumentOf, OperationName, ResultOf } from '../operations';
import type { HttpConnection } from './HttpConnection';
import { OPERATION_ROUTES } from './operationRoutes';

/** @throws DashboardError */
export async function callOperation<N extends OperationName>(
  connection: HttpConnection,
  name: N,
  argument: ArgumentOf<N>,
): Promise<ResultOf<N>> {
  const { request, field } = OPERATION_ROUTES[name];
  const { method, path, body } = request(argument);
  const response = await connection.request<unknown>(method, path, body);
  // The contract of the server's own routes types their responses.
  return (field === undefined ? response : (response as Readonly<Record<string, unknown>>)[field]) as ResultOf<N>;
}
