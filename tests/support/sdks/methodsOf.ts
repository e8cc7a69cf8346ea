/** The public methods of an SDK's client, as paths such as `chat.completions.create`. */

/** Fields that hold no resource: references back to the client, and its logger. */
const NOT_RESOURCES = new Set(['client', 'apiClient', 'parentClient', 'modelsModule', 'logger']);

/**
 * Methods of the resources below a client, found on their prototypes and among their own fields. A client's own
 * methods, which send any request, count only if it has no resources.
 */
export function methodsOf(client: object): readonly string[] {
  const found = new Set<string>();
  collect(client, '', new Set(), found);
  const ofResources = [...found].filter((path) => path.includes('.'));
  return (ofResources.length === 0 ? [...found] : ofResources).filter((path) => !/(?:^|\.)_|Internal$/.test(path));
}

function collect(resource: object, path: string, seen: Set<object>, found: Set<string>): void {
  if (seen.has(resource)) return;
  seen.add(resource);
  for (const [name, descriptor] of membersOf(resource)) {
    if (name === 'constructor' || name.startsWith('_') || NOT_RESOURCES.has(name)) continue;
    if (typeof descriptor.value === 'function') found.add(path + name);
    else {
      const child: unknown = Reflect.get(resource, name);
      if (isResource(child)) collect(child, `${path}${name}.`, seen, found);
    }
  }
}

function membersOf(resource: object): readonly (readonly [string, PropertyDescriptor])[] {
  const members: (readonly [string, PropertyDescriptor])[] = [];
  for (
    let owner: object | null = resource;
    owner !== null && owner !== Object.prototype;
    owner = Object.getPrototypeOf(owner) as object | null
  )
    members.push(...Object.entries(Object.getOwnPropertyDescriptors(owner)));
  return members;
}

/** Resources are instances of classes; settings are plain objects. */
function isResource(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype !== Object.prototype && prototype !== null && !(value instanceof Map) && !(value instanceof Set);
}
