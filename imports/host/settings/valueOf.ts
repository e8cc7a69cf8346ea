/** Treats an empty variable as unset. */
export function valueOf(
  env: Readonly<Record<string, string | undefined>>,
  name: string | undefined,
): string | undefined {
  const value = name === undefined ? undefined : env[name]?.trim();
  return value === '' ? undefined : value;
}
