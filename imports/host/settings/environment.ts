/** Environment variables by name. An empty one counts as not set. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The variables of this process, which are read here and in the logger only. */
export function processEnvironment(): Environment {
  return process.env;
}

export function valueOf(env: Environment, name: string | undefined): string | undefined {
  const value = name === undefined ? undefined : env[name]?.trim();
  return value === '' ? undefined : value;
}
