/**
 * Reads the variables that a function refers to, as a debugger does. The packages that define methods keep a method's
 * schema in such variables and nowhere else. Nothing is run, and no debugger is started.
 */
import { Session } from 'node:inspector';

export type AnyFunction = (...args: never[]) => unknown;

/** Where the inspector and this file hand each other objects, while one function is read. */
const EXCHANGE = '__bolideVariables';

/** https://chromedevtools.github.io/devtools-protocol/v8/Runtime/#type-RemoteObject */
interface RemoteValue {
  readonly objectId?: string | undefined;
  readonly description?: string | undefined;
  readonly value?: unknown;
  readonly unserializableValue?: string | undefined;
}

interface RemoteProperties {
  readonly result: readonly RemoteProperty[];
  readonly internalProperties?: readonly RemoteProperty[] | undefined;
}

interface RemoteProperty {
  readonly name: string;
  readonly value?: RemoteValue | undefined;
}

/**
 * Returns the variables of the scopes around a function, by name; an inner one hides an outer one of its name. Globals
 * are left out, and so are variables that no function refers to, which V8 does not keep.
 */
export function variablesOf(read: AnyFunction): ReadonlyMap<string, unknown> {
  const variables = new Map<string, unknown>();
  const session = new Session();
  session.connect();
  try {
    const post = (method: string, params: object): unknown => {
      let answer: { readonly error: Error | null; readonly result: unknown } | undefined;
      // In the same thread, the answer comes before `post` returns.
      session.post(method, params, (error, result) => {
        answer = { error, result };
      });
      if (answer === undefined || answer.error !== null) throw new Error(`${method} failed.`, { cause: answer?.error });
      return answer.result;
    };
    const propertiesOf = (objectId: string | undefined): RemoteProperties =>
      post('Runtime.getProperties', { objectId, ownProperties: true }) as RemoteProperties;
    const exchange = { read, values: [] as readonly unknown[] };
    Object.defineProperty(globalThis, EXCHANGE, { value: exchange, configurable: true });
    const { result } = post('Runtime.evaluate', { expression: `globalThis.${EXCHANGE}.read` }) as {
      readonly result: RemoteValue;
    };
    const { internalProperties = [] } = propertiesOf(result.objectId);
    const scopes = internalProperties.find(({ name }) => name === '[[Scopes]]')?.value?.objectId;
    if (scopes === undefined) return variables;
    for (const { name: index, value: scope } of propertiesOf(scopes).result) {
      if (!/^\d+$/.test(index) || scope?.objectId === undefined || scope.description === 'Global') continue;
      const found = propertiesOf(scope.objectId).result.filter(({ value }) => value !== undefined);
      post('Runtime.callFunctionOn', {
        objectId: scope.objectId,
        functionDeclaration: `function (...values) { globalThis.${EXCHANGE}.values = values; }`,
        arguments: found.map(({ value: { objectId, value, unserializableValue } = {} }) =>
          objectId === undefined ? { value, unserializableValue } : { objectId },
        ),
      });
      for (const [at, { name }] of found.entries()) if (!variables.has(name)) variables.set(name, exchange.values[at]);
    }
    return variables;
  } finally {
    Reflect.deleteProperty(globalThis, EXCHANGE);
    session.disconnect();
  }
}
