/** The table of operations of the dashboard's client, which cannot import them: they contain the server. */
import type { AnyOperation } from '../../imports/host/defineOperation';
import { routesOf } from '../../imports/host/defineOperation';
import type { OperationEntry } from '../../imports/ui/data/OperationEntry';

export function dashboardTable(operations: readonly AnyOperation[]): Readonly<Record<string, OperationEntry>> {
  return Object.fromEntries(
    operations.map((operation) => {
      const routes = routesOf(operation);
      const field = routes[0]?.field;
      const entry: OperationEntry = {
        topics: operation.reads ?? operation.changes,
        routes: routes.map(({ address }) => address),
        ...(field === undefined ? {} : { field }),
      };
      return [operation.name, entry];
    }),
  );
}
