import { resolveAccess } from '@sluice/metadata';
import type { Config, SourceConfig } from './config.js';

/** For start messages: one line a source with its folder and who may read it, then the warnings. */
export function describeConfig(config: Config): string[] {
  return [...config.sources.map((source) => describeSource(source, config)), ...config.warnings];
}

function describeSource(source: SourceConfig, config: Config): string {
  const access = resolveAccess({ schema: config.schema, sourceMetadata: source.metadata });
  const who = access.origins.security_level === 'source' ? '' : ` (${defaultReason(config)})`;
  const groups = access.allowed_groups === undefined ? '' : `, groups ${access.allowed_groups.join(', ') || 'none'}`;
  const rules = source.rules.filter(({ metadata }) => metadata !== undefined && speaksOfAccess(metadata)).length;
  const ruled = rules === 0 ? '' : `, ${rules === 1 ? 'one rule sets' : `${rules} rules set`} access by path`;
  return `source "${source.name}": ${source.path}, level ${access.security_level}${who}${groups}${ruled}`;
}

function defaultReason({ file, schema }: Config): string {
  if (file === undefined) return 'there is no configuration file';
  return schema.defaultSecurityLevel === 5 ? 'the strictest, where the configuration sets none' : 'schema.default_security_level';
}

function speaksOfAccess(metadata: Readonly<Record<string, unknown>>): boolean {
  return ['security_level', 'access_level', 'allowed_groups'].some((field) => Object.hasOwn(metadata, field));
}
