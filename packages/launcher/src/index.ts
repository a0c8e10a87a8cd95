export { checkModel, obtainModel } from './provision/obtain-model.js';
export { obtainRedis } from './services/redis.js';
export { stopService } from './services/service.js';
export { obtainWeaviate } from './services/weaviate.js';
export { cacheFolder, createWorkplace } from './system/workplace.js';
