/** @param modelId `provider/model` or `provider` */
export function providerIdOf(modelId: string): string {
  const slash = modelId.indexOf('/');
  return slash === -1 ? modelId : modelId.slice(0, slash);
}
