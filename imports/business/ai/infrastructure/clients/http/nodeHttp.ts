/** Node's HTTP clients, loaded with the first request: they take a fifth of the time of importing Bolide. */

export function nodeHttp(): typeof import('node:http') {
  return process.getBuiltinModule('node:http');
}

export function nodeHttps(): typeof import('node:https') {
  return process.getBuiltinModule('node:https');
}
