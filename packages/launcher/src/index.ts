export type { Check } from './doctor/check.js';
export { type DiagnoseOptions, diagnose } from './doctor/diagnose.js';
export { type AppSpec, standardApps } from './instance/apps.js';
export {
  type Addresses,
  type Instance,
  type InstanceEvent,
  type InstanceOptions,
  type InstancePlan,
  startInstance,
} from './instance/instance.js';
export { planInstance } from './instance/plan.js';
export { type RunFile, readRunFile, runFilePath, runningSupervisor } from './instance/run-file.js';
export { type RunOptions, runInstance } from './instance/run-instance.js';
export { reclaimFolders, type ServicesAlone, startServicesAlone, stopInstancesBelow } from './instance/services-alone.js';
export { type DetachedOptions, type DetachedResult, startDetached } from './instance/start-detached.js';
export { type StopResult, stopInstance } from './instance/stop-instance.js';
export { E5_SMALL, MINILM, type ModelSpec, modelSpec, RERANKER } from './provision/models.js';
export { checkModel, obtainModel } from './provision/obtain-model.js';
export { obtainRedis } from './services/redis.js';
export { type ServiceRecord, stopService } from './services/service.js';
export { obtainWeaviate } from './services/weaviate.js';
export { cacheFolder, createWorkplace, type Environment, type Workplace } from './system/workplace.js';
